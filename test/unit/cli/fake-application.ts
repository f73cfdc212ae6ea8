import { PassThrough } from 'node:stream';
import type { CommandContext } from '../../../bin/commands/context.ts';
import { runProgram } from '../../../bin/commands/program.ts';
import {
  type Application,
  type Commands,
  type Engine,
  type EngineError,
  type EventRecord,
  engineError,
  err,
  type OpenOptions,
  ok,
  type Queries,
  type Result,
  type RunOutcome,
  type Snapshot,
} from '../../../src/engine/api.ts';

type Answers = { readonly [N in keyof Commands]?: Result<Commands[N]['out'], EngineError> };

export interface FakeOptions {
  readonly snapshot?: Partial<Record<keyof Snapshot, unknown>>;
  readonly events?: readonly EventRecord[];
  readonly answers?: Answers;
  readonly noninteractive?: boolean;
  readonly openError?: EngineError;
  readonly queries?: { readonly [N in keyof Queries]?: (input: Queries[N]['in']) => Queries[N]['out'] };
  readonly drive?: (world: FakeWorld, signal: AbortSignal) => Promise<RunOutcome>;
  readonly application?: Partial<Application>;
}

/** An engine in memory that answers what a test tells it to and remembers what it was asked. */
export class FakeWorld {
  readonly opened: OpenOptions[] = [];
  readonly commands: { readonly name: string; readonly input: unknown; readonly principal: string }[] = [];
  readonly closed: string[] = [];
  readonly events: EventRecord[];
  readonly #listeners = new Set<(range: { fromId: number; toId: number }) => void>();
  readonly #options: FakeOptions;

  constructor(options: FakeOptions = {}) {
    this.#options = options;
    this.events = [...(options.events ?? [])];
    this.app = {
      init: async () => err(engineError('not_a_repository', 'no repository', 'make one')),
      open: async (opening) => {
        this.opened.push(opening);
        return options.openError === undefined ? ok(this.engine) : err(options.openError);
      },
      checkConfig: async () => ok({ file: '.roundtable/config.yaml', problems: [], warnings: [] }),
      showConfig: async () => ok([]),
      buildImage: async () => err(engineError('container_engine_unavailable', 'no engine', 'start one')),
      drive: async (_, runId, signal) =>
        options.drive?.(this, signal) ?? { runId: runId as RunOutcome['runId'], exit: 0, reason: 'all done' },
      allowsNoninteractive: async () => ok(options.noninteractive === true),
      ...options.application,
    };
  }

  /** Commits an event and tells subscribers. */
  emit(event: EventRecord): void {
    this.events.push(event);
    for (const listener of this.#listeners) listener({ fromId: event.id, toId: event.id });
  }

  get subscribers(): number {
    return this.#listeners.size;
  }

  snapshot(): Snapshot {
    const empty = {
      lastEventId: this.events.at(-1)?.id ?? 0,
      at: '2026-01-01T00:00:00.000Z',
      project: { name: 'demo', root: '/repo', branch: 'main', head: null },
      engine: { role: 'client', owner: null, containerEngine: null, containerEngineProblem: null, configProblem: null },
      runs: [],
      tasks: [],
      agents: [],
      claims: [],
      proposals: [],
      approvals: [],
      sessions: [],
      transactions: [],
      attention: [],
    };
    return { ...empty, ...this.#options.snapshot } as unknown as Snapshot;
  }

  readonly engine: Engine = {
    query: async (name, input) => {
      const special = this.#options.queries?.[name];
      if (special !== undefined) return special(input);
      if (name === 'snapshot') return this.snapshot() as never;
      if (name === 'events') return this.#readEvents(input as Queries['events']['in']) as never;
      throw new Error(`the fake has no answer to ${name}`);
    },
    command: async (name, input, principal) => {
      this.commands.push({ name, input, principal });
      const answer = this.#options.answers?.[name];
      if (answer === undefined) return ok({} as never);
      return answer as never;
    },
    subscribe: (listener) => {
      this.#listeners.add(listener);
      return { close: () => void this.#listeners.delete(listener) };
    },
    close: async (how) => {
      this.closed.push(how);
    },
  };

  readonly app: Application;

  #readEvents(query: Queries['events']['in']): readonly EventRecord[] {
    const fit = this.events.filter(
      (event) =>
        event.id > (query.afterId ?? 0) &&
        (query.runId === undefined || event.runId === query.runId) &&
        (query.type === undefined || event.type === query.type) &&
        (query.entity === undefined || event.entity === query.entity) &&
        (query.entityId === undefined || event.entityId === query.entityId),
    );
    return query.newest === true ? fit.slice(-query.limit) : fit.slice(0, query.limit);
  }
}

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly world: FakeWorld;
  /** Every line of stdout as JSON. */
  json(): unknown[];
}

export interface CliOptions extends FakeOptions {
  /** What the operator types; given at all, the streams are a terminal. */
  readonly types?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly interrupt?: AbortSignal;
  readonly world?: FakeWorld;
  /** Lets a test close the reader's end. */
  readonly onStdout?: (stdout: PassThrough) => void;
}

/** One command line in this process, on streams in memory. */
export async function cli(argv: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const world = options.world ?? new FakeWorld(options);
  const isTTY = options.types !== undefined;
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  for (const stream of [stdin, stdout, stderr]) Object.assign(stream, { isTTY });
  if (options.types !== undefined) stdin.end(options.types);
  const written = [collect(stdout), collect(stderr)] as const;
  const ctx: CommandContext = {
    app: world.app,
    cwd: options.cwd ?? '/repo',
    env: options.env ?? {},
    stdin,
    stdout,
    stderr,
    interrupt: options.interrupt ?? new AbortController().signal,
    version: '1.2.3',
    demoTemplate: '/nowhere',
  };
  stdout.on('error', () => undefined);
  options.onStdout?.(stdout);
  const code = await runProgram(argv, ctx);
  const text = written[0]();
  return {
    code,
    stdout: text,
    stderr: written[1](),
    world,
    json: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown),
  };
}

function collect(stream: PassThrough): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => {
    for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null)
      chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
}

export function event(id: number, over: Partial<EventRecord> = {}): EventRecord {
  const base = {
    id,
    at: '2026-01-01T10:20:30.123Z',
    type: 'task.opened',
    principal: 'system',
    entity: 'task',
    entityId: 'T-1',
  };
  return { ...base, runId: 'R-1', data: {}, digest: '', ...over } as EventRecord;
}

export const RUN = {
  id: 'R-1',
  goal: 'make it better',
  status: 'active',
  statusReason: null,
  scope: [],
  targetRef: 'refs/heads/main',
  approveMode: 'operator',
  maxIterations: null,
  iterations: 0,
  deadlineAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

export const TASK = {
  id: 'T-1',
  runId: 'R-1',
  title: 'a task',
  body: 'the text',
  status: 'open',
  statusReason: null,
  readablePaths: ['.'],
  writablePaths: ['src'],
  risk: 'normal',
  priority: 0,
  role: 'Implementer',
  agentId: null,
  dependsOn: [],
  expectedTests: [],
  attempts: 0,
};

export const PROPOSAL = {
  id: 'P-1',
  runId: 'R-1',
  taskId: 'T-1',
  agentId: 'implementer-1',
  sessionId: 'S-1',
  title: 'a change',
  status: 'in_review',
  statusReason: null,
  currentRevision: 2,
  revision: {
    number: 2,
    baseCommit: 'c'.repeat(40),
    files: 1,
    additions: 3,
    deletions: 1,
    touched: ['src/a.ts'],
    highRiskPaths: [],
  },
  gates: [
    { id: 'tests', status: 'passed', detail: 'npm test passed', remedy: '' },
    { id: 'human', status: 'pending', detail: 'waits for the operator', remedy: 'approve it' },
  ],
  approvals: [],
  testRuns: [],
};
