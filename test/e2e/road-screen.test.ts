import { afterEach, describe, expect, it } from 'vitest';
import { containerTestsEnabled } from '../support/container.ts';
import { PROGRAM, runProgram } from '../support/program.ts';
import { type PtySession, startInPty } from '../support/pty.ts';
import { type RoadOptions, type RoadProject, roadProject } from '../support/road.ts';

const ENTER = '\r';
const ESCAPE = '\u001b';

describe.skipIf(!containerTestsEnabled())('the real program in a terminal', { timeout: 300_000 }, () => {
  let project: RoadProject | null = null;
  const sessions: PtySession[] = [];
  const start = async (options: RoadOptions): Promise<RoadProject> => {
    project = await roadProject(options);
    return project;
  };
  const terminal = (dir: string, cols: number, rows: number, ...args: readonly string[]): PtySession => {
    const session = startInPty({ file: process.execPath, args: [PROGRAM, ...args], cols, rows, cwd: dir });
    sessions.push(session);
    return session;
  };
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
    await project?.dispose();
    project = null;
  });

  it.each([
    [80, 24],
    [200, 50],
  ])(
    'takes a task to an approved commit and back at %i×%i, by keys alone, and gives the terminal back',
    async (cols, rows) => {
      const { dir, git } = await start({ agent: 'echo changed > src/a.txt; echo said by the agent' });
      const base = git('rev-parse', 'HEAD');
      const screen = terminal(dir, cols, rows);
      await screen.waitFor(/\[?1\]? Runs/, 60_000);
      screen.press('n');
      await screen.waitFor('New task');
      screen.press('Change the first file');
      await screen.waitFor('Change the first file');
      screen.press(ENTER);
      screen.press(ENTER);
      screen.press('src/');
      await screen.waitFor('src/');
      screen.press(ENTER);
      await screen.waitFor('1 needs you', 120_000);

      screen.press('!');
      await screen.waitFor(/human ●/);
      screen.press(ENTER);
      await screen.waitFor('changed');
      screen.press('a');
      await screen.waitFor('Approve P-1 r1');
      screen.press('y');
      await screen.waitFor('accepted', 120_000);
      expect(git('show', 'HEAD:src/a.txt')).toBe('changed');

      screen.press(ESCAPE);
      screen.press('7');
      await screen.waitFor(/TX-1 +apply applied/);
      screen.press('R');
      await screen.waitFor('↵ roll back');
      screen.press('second thoughts');
      await screen.waitFor('second thoughts');
      screen.press(ENTER);
      await screen.waitFor(/TX-2 +rollback applied/, 120_000);
      expect(git('diff', base, 'HEAD')).toBe('');

      screen.press('?');
      await screen.waitFor('Keys');
      screen.press(ESCAPE);
      screen.press('q');
      expect(await screen.exit()).toMatchObject({ exitCode: 0 });
      expect(screen.modes()).toMatchObject({ alternate: false, cursorHidden: false });
    },
  );

  it('is a client that names the owner when another process runs the engine, and watch shows what happens there', async () => {
    const { dir } = await start({
      agent: 'echo changed > src/a.txt',
      policy: 'consensus:\n  default: {tests_required: false, human_approval_required: true}',
    });
    const owner = terminal(dir, 120, 32);
    await owner.waitFor('[1] Runs', 60_000);
    const refused = await runProgram(dir, ['run', '--headless', '--goal', 'Something else', '--json']);
    expect(refused).toMatchObject({ code: 6, stdout: expect.stringContaining('"code":"engine_owned"') });
    const client = terminal(dir, 120, 32);
    await client.waitFor(new RegExp(`pid ${owner.pid}`), 60_000);
    const watch = terminal(dir, 44, 20, 'watch');
    await watch.waitFor(/watch|Roundtable|road/, 60_000);
    expect((await runProgram(dir, ['task', 'Change a file', '--json'])).code).toBe(0);
    await watch.waitFor('T-1', 60_000);
    await watch.waitFor(/P-1/, 120_000);
    // The client decides, the owner applies.
    await client.waitFor('1 needs you', 120_000);
    client.press('!');
    await client.waitFor('P-1 r1');
    client.press('a');
    await client.waitFor('Approve P-1 r1');
    client.press('y');
    await owner.waitFor(/TX-1 +apply applied/, 120_000);
    watch.press('q');
    expect(await watch.exit()).toMatchObject({ exitCode: 0 });
    client.press('q');
    expect(await client.exit()).toMatchObject({ exitCode: 0 });
    owner.press('q');
    expect(await owner.exit()).toMatchObject({ exitCode: 0 });
  });
});
