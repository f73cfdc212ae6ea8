import type { ScreenData } from '../state/screen-state.ts';
import { type Row, rowWidth, type Segment, seg, spreadRow } from '../text/row.ts';
import { isLiveSession, shortCommit, statusTone, statusWords } from './words.ts';

/** Project, branch, run, sessions and container engine, as many as fit; what needs the operator always stays. */
export function headerRow(data: ScreenData, cells: number): Row {
  const { snapshot } = data;
  if (snapshot === null) return spreadRow([seg(' Roundtable', 'strong')], [seg('opening … ', 'dim')], cells);
  const { project, engine } = snapshot;
  const run = snapshot.runs.findLast((candidate) =>
    ['active', 'paused', 'draining', 'blocked'].includes(candidate.status),
  );
  const live = snapshot.sessions.filter((session) => isLiveSession(session.status)).length;
  const capacity = snapshot.agents
    .filter((agent) => !agent.retired && agent.enabledByOperator)
    .reduce((sum, agent) => sum + agent.maxSessions, 0);
  const branch = project.branch === null ? 'detached' : project.branch;
  const parts: readonly Segment[] = [
    seg(`${project.name}  `, 'strong'),
    seg(`${branch}@${shortCommit(project.head)}  `),
    ...(run === undefined
      ? [seg('no run  ', 'dim')]
      : [seg(`run ${run.id} ${statusWords(run.status)}  `, statusTone(run.status))]),
    seg(`${live}/${capacity} sessions  `),
    seg(engine.containerEngine ?? (engine.role === 'client' ? '' : 'no container engine')),
  ];
  const count = snapshot.attention.length;
  const right: Row =
    count === 0
      ? [seg('nothing needs you ', 'dim')]
      : [seg(`● ${count} ${count === 1 ? 'needs' : 'need'} you `, 'warn')];
  const room = cells - rowWidth(right) - 1;
  const brand = seg(' Roundtable  ', 'strong');
  const left: Segment[] = cells >= 100 ? [brand] : [seg(' ')];
  for (const part of parts) {
    if (rowWidth([...left, part]) > room) break;
    left.push(part);
  }
  return spreadRow(left, right, cells);
}

/** Lasting conditions, each on its own row: engine elsewhere, container engine gone, configuration refused, stale data. */
export function bannerRows(data: ScreenData): readonly Row[] {
  const rows: Row[] = [];
  if (data.stale !== null) rows.push([seg(' ! what you see may be old: ', 'warn'), seg(data.stale)]);
  const engine = data.snapshot?.engine;
  if (engine === undefined) return rows;
  if (engine.role === 'client') {
    rows.push(
      engine.owner === null
        ? [seg(' ! no engine runs: ', 'warn'), seg('decisions are recorded; “roundtable start” carries them out')]
        : [
            seg(` i engine owned by pid ${engine.owner.pid} `, 'info'),
            seg(`(${engine.owner.command}): this screen is a client of it`),
          ],
    );
  }
  if (engine.containerEngineProblem !== null) {
    rows.push([seg(' ! container engine: ', 'warn'), seg(engine.containerEngineProblem)]);
  }
  if (engine.configProblem !== null) {
    rows.push([seg(' ! configuration refused, the old one stays: ', 'warn'), seg(engine.configProblem)]);
  }
  return rows;
}
