import type {
  AgentId,
  ClaimRecord,
  DiffFile,
  DiffLine,
  Gate,
  GateId,
  ProposalId,
  ProposalView,
  RunId,
  SessionId,
  SessionRecord,
  Snapshot,
  TaskId,
  TaskRecord,
  TransactionId,
  TransactionRecord,
} from '../../src/engine/api.ts';

/** Ids and object names of fixtures are plain words; the brands only keep them apart in code. */
export const id = {
  run: (text: string) => text as RunId,
  task: (text: string) => text as TaskId,
  agent: (text: string) => text as AgentId,
  session: (text: string) => text as SessionId,
  proposal: (text: string) => text as ProposalId,
  transaction: (text: string) => text as TransactionId,
  claim: (text: string) => text as ClaimRecord['id'],
  object: (text: string) => text as SessionRecord['baseCommit'],
};

export const AT = '2026-03-04T12:00:00.000Z';
const HEAD = id.object('4f2c1e9a7b3d5f60718293a4b5c6d7e8f9012345');

const GATES: readonly GateId[] = [
  'base',
  'claims',
  'scope',
  'secrets',
  'security',
  'tests',
  'roles',
  'votes',
  'veto',
  'rollback_plan',
  'human',
];

/** All gates passed but those named. */
export function gates(different: Partial<Record<GateId, Omit<Gate, 'id'>>> = {}): readonly Gate[] {
  return GATES.map((gate) => ({ id: gate, status: 'passed', detail: 'holds', remedy: '', ...different[gate] }));
}

export const HUMAN_PENDING: Partial<Record<GateId, Omit<Gate, 'id'>>> = {
  human: { status: 'pending', detail: 'waits for the operator', remedy: 'press a, or approve it on the command line' },
};

export function task(name: string, over: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: id.task(name),
    runId: id.run('R-3'),
    title: 'Add cursor pagination to the users list',
    body: 'The list is cut at 100 rows.\n\nAdd a cursor; keep the order stable.',
    status: 'open',
    statusReason: null,
    readablePaths: ['.'],
    writablePaths: ['src/users.ts', 'test/'],
    risk: 'normal',
    priority: 0,
    role: 'Implementer',
    agentId: null,
    dependsOn: [],
    expectedTests: [['npm', 'test']],
    attempts: 1,
    notBefore: null,
    feedback: null,
    createdBy: 'operator',
    createdAt: AT,
    updatedAt: AT,
    ...over,
  };
}

export function session(name: string, over: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: id.session(name),
    agentId: id.agent('implementer-1'),
    role: 'Implementer',
    runId: id.run('R-3'),
    taskId: id.task('T-8'),
    adapter: 'codex',
    model: 'default',
    mode: 'start',
    status: 'succeeded',
    statusReason: null,
    attempt: 1,
    baseCommit: HEAD,
    imageDigest: `sha256:${'ab'.repeat(32)}`,
    containerId: null,
    engineInstance: 'engine-1',
    externalId: null,
    withheld: ['.env'],
    exitCode: 0,
    stdoutBytes: 0,
    stderrBytes: 0,
    stdoutTruncated: false,
    stderrTruncated: false,
    usage: { inputTokens: 12_345, outputTokens: 678, usd: 0.42 },
    createdAt: AT,
    startedAt: AT,
    endedAt: '2026-03-04T12:03:10.000Z',
    lastSeenAt: AT,
    durations: {},
    ...over,
  };
}

export function proposal(name: string, over: Partial<ProposalView> = {}): ProposalView {
  const currentRevision = over.currentRevision ?? 1;
  return {
    id: id.proposal(name),
    runId: id.run('R-3'),
    taskId: id.task('T-8'),
    agentId: id.agent('implementer-1'),
    sessionId: id.session('S-30'),
    title: 'Add cursor pagination',
    status: 'in_review',
    statusReason: null,
    currentRevision,
    createdAt: AT,
    updatedAt: AT,
    revision: {
      number: currentRevision,
      source: 'workspace',
      author: 'agent:implementer-1',
      baseCommit: HEAD,
      baseTree: 'b'.repeat(40),
      resultTree: 'c'.repeat(40),
      patchDigest: 'd'.repeat(64),
      files: 2,
      additions: 26,
      deletions: 3,
      touched: ['src/users.ts', 'test/users.test.ts'],
      highRiskPaths: [],
      createdAt: AT,
    },
    gates: gates(HUMAN_PENDING),
    approvals: [],
    testRuns: [],
    ...over,
  };
}

export function transaction(name: string, over: Partial<TransactionRecord> = {}): TransactionRecord {
  return {
    id: id.transaction(name),
    kind: 'apply',
    proposalId: id.proposal('P-11'),
    revision: 1,
    revertsId: null,
    status: 'applied',
    statusReason: null,
    needsOperator: false,
    targetRef: 'refs/heads/main',
    oldCommit: id.object('1'.repeat(40)),
    newCommit: HEAD,
    journal: '{}',
    createdAt: AT,
    endedAt: AT,
    ...over,
  };
}

function claim(name: string, over: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    id: id.claim(name),
    runId: id.run('R-3'),
    taskId: id.task('T-9'),
    sessionId: id.session('S-31'),
    agentId: id.agent('implementer-2'),
    mode: 'write',
    resourceKind: 'file',
    path: 'src/users.ts',
    status: 'active',
    statusReason: null,
    fencingToken: 7,
    expiresAt: '2026-03-04T12:15:00.000Z',
    createdAt: AT,
    updatedAt: AT,
    ...over,
  };
}

/** A project in the middle of a run: one proposal that needs the operator, one that failed its tests, one applied. */
export function sampleSnapshot(): Snapshot {
  return {
    lastEventId: 0,
    at: AT,
    project: { name: 'shop-api', root: '/srv/shop-api', branch: 'main', head: HEAD },
    engine: {
      role: 'owner',
      owner: { pid: 4242, startedAt: AT, command: 'roundtable' },
      containerEngine: 'docker 27.1',
      containerEngineProblem: null,
      configProblem: null,
    },
    runs: [
      {
        id: id.run('R-3'),
        goal: 'Paginate every list of the API',
        status: 'active',
        statusReason: null,
        scope: [],
        targetRef: 'refs/heads/main',
        approveMode: 'operator',
        maxIterations: 20,
        iterations: 4,
        deadlineAt: null,
        createdAt: AT,
        updatedAt: AT,
      },
    ],
    tasks: [
      task('T-7', { title: 'Describe the page format', status: 'done', role: 'Architect' }),
      task('T-8', { status: 'in_review' }),
      task('T-9', { title: 'Paginate the orders list', status: 'in_progress', dependsOn: [id.task('T-7')] }),
    ],
    agents: ['implementer-1', 'implementer-2'].map((name) => ({
      id: id.agent(name),
      role: 'Implementer',
      adapter: 'codex',
      model: 'default',
      maxSessions: 1,
      status: 'idle',
      enabledByOperator: true,
      retired: false,
      updatedAt: AT,
    })),
    claims: [claim('C-4'), claim('C-5', { path: 'test/', resourceKind: 'directory' })],
    proposals: [
      proposal('P-11', {
        title: 'Describe the page format',
        status: 'accepted',
        taskId: id.task('T-7'),
        gates: gates(),
      }),
      proposal('P-12', { currentRevision: 2 }),
      proposal('P-13', {
        title: 'Cap the page size',
        gates: gates({
          ...HUMAN_PENDING,
          tests: { status: 'failed', detail: 'npm test exited with 1', remedy: 'press m and send it back' },
        }),
      }),
    ],
    approvals: [],
    sessions: [
      session('S-29', { taskId: id.task('T-7') }),
      session('S-30'),
      session('S-31', {
        agentId: id.agent('implementer-2'),
        taskId: id.task('T-9'),
        status: 'running',
        exitCode: null,
        endedAt: null,
      }),
    ],
    transactions: [transaction('TX-5')],
    attention: [
      { kind: 'approval', entity: 'proposal', id: 'P-12', text: 'P-12 r2 waits for your approval' },
      { kind: 'failed_gate', entity: 'proposal', id: 'P-13', text: 'tests of P-13 failed' },
    ],
  };
}

function line(kind: DiffLine['kind'], text: string, oldLine: number | null, newLine: number | null): DiffLine {
  return { kind, text, oldLine, newLine };
}

export function sampleDiff(): readonly DiffFile[] {
  return [
    {
      path: 'src/users.ts',
      renamedFrom: null,
      status: 'modified',
      oldMode: '100644',
      newMode: '100644',
      binary: false,
      additions: 2,
      deletions: 2,
      truncated: false,
      hunks: [
        {
          header: '@@ -40,3 +40,3 @@ export function list()',
          oldStart: 40,
          oldLines: 3,
          newStart: 40,
          newLines: 3,
          lines: [
            line('context', '  const rows = query(limit);', 40, 40),
            line('removed', '  return rows;', 41, null),
            line('added', '  return page(rows, cursor);', null, 41),
            line('context', '}', 42, 42),
          ],
        },
        {
          header: '@@ -80,2 +80,2 @@ export function count()',
          oldStart: 80,
          oldLines: 2,
          newStart: 80,
          newLines: 2,
          lines: [
            line('removed', '  return 100;', 80, null),
            line('added', '  return total();', null, 80),
            line('context', '}', 81, 81),
          ],
        },
      ],
    },
    {
      path: 'test/users.test.ts',
      renamedFrom: null,
      status: 'added',
      oldMode: null,
      newMode: '100644',
      binary: false,
      additions: 24,
      deletions: 0,
      truncated: false,
      hunks: [
        {
          header: '@@ -0,0 +1,24 @@',
          oldStart: 0,
          oldLines: 0,
          newStart: 1,
          newLines: 24,
          lines: Array.from({ length: 24 }, (_, index) =>
            line('added', `test('page ${index + 1}', () => expect(page(${index + 1})).toBeSorted());`, null, index + 1),
          ),
        },
      ],
    },
  ];
}

/** One file of hunks of 20 lines, `lines` lines in all. */
export function longDiff(lines: number): readonly DiffFile[] {
  const hunks = Array.from({ length: Math.ceil(lines / 20) }, (_, number) => {
    const start = number * 30 + 1;
    const count = Math.min(20, lines - number * 20);
    return {
      header: `@@ -${start},0 +${start},${count} @@`,
      oldStart: start,
      oldLines: 0,
      newStart: start,
      newLines: count,
      lines: Array.from({ length: count }, (_unused, index) =>
        line('added', `  const value${start + index} = compute(${start + index}, options);`, null, start + index),
      ),
    };
  });
  return [
    {
      path: 'src/long.ts',
      renamedFrom: null,
      status: 'modified',
      oldMode: '100644',
      newMode: '100644',
      binary: false,
      additions: lines,
      deletions: 0,
      truncated: false,
      hunks,
    },
  ];
}
