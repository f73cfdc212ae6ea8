const PRINCIPAL = (column: string) =>
  `CHECK (${column} IN ('operator', 'coordinator', 'system') OR ${column} GLOB 'agent:?*')`;
const BOOLEAN = (column: string) => `INTEGER NOT NULL CHECK (${column} IN (0, 1))`;

/**
 * Rows keep their insertion order in `seq`, because ids are text (`T-10` sorts before `T-2`). Messages of RAISE are
 * constants on purpose: expressions there make the file unreadable for SQLite before 3.47.
 */
export const firstSchema = `
CREATE TABLE facts (
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  name TEXT PRIMARY KEY NOT NULL,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER counters_only_grow BEFORE UPDATE ON counters WHEN NEW.value <= OLD.value
BEGIN SELECT RAISE(ABORT, 'counters only grow'); END;
CREATE TRIGGER counters_stay BEFORE DELETE ON counters
BEGIN SELECT RAISE(ABORT, 'counters are never deleted'); END;

CREATE TABLE legal_moves (
  entity TEXT NOT NULL,
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  PRIMARY KEY (entity, from_status, to_status)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  type TEXT NOT NULL,
  principal TEXT NOT NULL,
  entity TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  run_id TEXT,
  data TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_without_gap BEFORE INSERT ON events
WHEN NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'events are numbered without gaps'); END;
CREATE TRIGGER events_immutable BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;
CREATE TRIGGER events_stay BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

-- Which blocks of the log hold a value (event-blocks.ts). An index on events would dirty one page more in every
-- single-event commit and cost more than the event itself; that is also why principals aren't checked there.
CREATE TABLE event_blocks (
  field TEXT NOT NULL,
  value TEXT NOT NULL,
  block INTEGER NOT NULL,
  PRIMARY KEY (field, value, block)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  goal TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  scope TEXT NOT NULL,
  target_ref TEXT NOT NULL,
  approve_mode TEXT NOT NULL CHECK (approve_mode IN ('operator', 'policy', 'never')),
  max_iterations INTEGER,
  iterations INTEGER NOT NULL,
  deadline_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_status ON runs (status);

CREATE TABLE agents (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  adapter TEXT NOT NULL,
  model TEXT NOT NULL,
  max_sessions INTEGER NOT NULL,
  status TEXT NOT NULL,
  enabled_by_operator ${BOOLEAN('enabled_by_operator')},
  retired ${BOOLEAN('retired')},
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id),
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  readable_paths TEXT NOT NULL,
  writable_paths TEXT NOT NULL,
  risk TEXT NOT NULL CHECK (risk IN ('low', 'normal', 'high', 'critical')),
  priority INTEGER NOT NULL,
  role TEXT NOT NULL,
  agent_id TEXT REFERENCES agents (id),
  depends_on TEXT NOT NULL,
  expected_tests TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  not_before TEXT,
  feedback TEXT,
  created_by TEXT NOT NULL ${PRINCIPAL('created_by')},
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_by_run ON tasks (run_id);

CREATE TABLE sessions (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  role TEXT NOT NULL,
  run_id TEXT NOT NULL REFERENCES runs (id),
  task_id TEXT REFERENCES tasks (id),
  adapter TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('start', 'resume', 'external')),
  status TEXT NOT NULL,
  status_reason TEXT,
  attempt INTEGER NOT NULL,
  base_commit TEXT NOT NULL,
  image_digest TEXT NOT NULL,
  container_id TEXT,
  engine_instance TEXT NOT NULL,
  external_id TEXT,
  withheld TEXT NOT NULL,
  exit_code INTEGER,
  stdout_bytes INTEGER NOT NULL,
  stderr_bytes INTEGER NOT NULL,
  stdout_truncated ${BOOLEAN('stdout_truncated')},
  stderr_truncated ${BOOLEAN('stderr_truncated')},
  usage TEXT,
  created_at TEXT NOT NULL,
  started_at TEXT,
  ended_at TEXT,
  last_seen_at TEXT,
  durations TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_run ON sessions (run_id);
CREATE INDEX sessions_by_task ON sessions (task_id);
CREATE INDEX sessions_by_status ON sessions (status);

CREATE TABLE claims (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id),
  task_id TEXT REFERENCES tasks (id),
  session_id TEXT REFERENCES sessions (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  mode TEXT NOT NULL CHECK (mode IN ('read', 'write', 'review', 'exclusive')),
  resource_kind TEXT NOT NULL,
  path TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  fencing_token INTEGER NOT NULL UNIQUE,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((resource_kind = 'directory' AND substr(path, -1) = '/') OR (resource_kind = 'file' AND substr(path, -1) <> '/'))
) STRICT;
CREATE INDEX claims_active_by_path ON claims (path) WHERE status = 'active';
CREATE INDEX claims_by_session ON claims (session_id);

CREATE TABLE proposals (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id),
  task_id TEXT NOT NULL REFERENCES tasks (id),
  agent_id TEXT NOT NULL REFERENCES agents (id),
  session_id TEXT NOT NULL REFERENCES sessions (id),
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  status_reason TEXT,
  current_revision INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX proposals_by_run ON proposals (run_id);
CREATE INDEX proposals_by_task ON proposals (task_id);

CREATE TABLE revisions (
  seq INTEGER PRIMARY KEY,
  proposal_id TEXT NOT NULL REFERENCES proposals (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  source TEXT NOT NULL CHECK (source IN ('workspace', 'patch', 'graft')),
  author TEXT NOT NULL ${PRINCIPAL('author')},
  parent INTEGER,
  base_commit TEXT NOT NULL,
  base_tree TEXT NOT NULL,
  result_tree TEXT NOT NULL,
  patch_digest TEXT NOT NULL,
  rollback_plan TEXT,
  changes TEXT NOT NULL,
  additions INTEGER NOT NULL,
  deletions INTEGER NOT NULL,
  high_risk_paths TEXT NOT NULL,
  policy_digest TEXT NOT NULL,
  policy TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (proposal_id, number)
) STRICT;
CREATE TRIGGER revisions_immutable BEFORE UPDATE ON revisions
BEGIN SELECT RAISE(ABORT, 'revisions are immutable'); END;
CREATE TRIGGER revisions_once BEFORE INSERT ON revisions
WHEN EXISTS (SELECT 1 FROM revisions WHERE seq = NEW.seq OR (proposal_id = NEW.proposal_id AND number = NEW.number))
BEGIN SELECT RAISE(ABORT, 'revisions are immutable; this one exists already'); END;
CREATE TRIGGER revisions_stay BEFORE DELETE ON revisions
BEGIN SELECT RAISE(ABORT, 'revisions are immutable'); END;

CREATE TABLE test_runs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  proposal_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  argv TEXT NOT NULL,
  result_tree TEXT NOT NULL,
  image_digest TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'passed', 'failed', 'error', 'cancelled')),
  exit_code INTEGER,
  detail TEXT,
  log_file TEXT,
  log_truncated ${BOOLEAN('log_truncated')},
  started_at TEXT NOT NULL,
  ended_at TEXT,
  FOREIGN KEY (proposal_id, revision) REFERENCES revisions (proposal_id, number)
) STRICT;
CREATE INDEX test_runs_by_revision ON test_runs (proposal_id, revision);

CREATE TABLE approvals (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  proposal_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  principal TEXT NOT NULL ${PRINCIPAL('principal')},
  origin TEXT NOT NULL CHECK (origin IN ('tui', 'cli-typed', 'noninteractive', 'scripted')),
  carried_from INTEGER,
  note TEXT,
  at TEXT NOT NULL,
  FOREIGN KEY (proposal_id, revision) REFERENCES revisions (proposal_id, number)
) STRICT;
CREATE INDEX approvals_by_revision ON approvals (proposal_id, revision);
CREATE TRIGGER approvals_immutable BEFORE UPDATE ON approvals
BEGIN SELECT RAISE(ABORT, 'approvals are immutable'); END;
CREATE TRIGGER approvals_once BEFORE INSERT ON approvals
WHEN EXISTS (SELECT 1 FROM approvals WHERE seq = NEW.seq OR id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'approvals are immutable; this one exists already'); END;
CREATE TRIGGER approvals_stay BEFORE DELETE ON approvals
BEGIN SELECT RAISE(ABORT, 'approvals are immutable'); END;

CREATE TABLE transactions (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('apply', 'rollback')),
  proposal_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  reverts_id TEXT REFERENCES transactions (id),
  status TEXT NOT NULL,
  status_reason TEXT,
  needs_operator ${BOOLEAN('needs_operator')},
  target_ref TEXT NOT NULL,
  old_commit TEXT NOT NULL,
  new_commit TEXT,
  journal TEXT NOT NULL,
  created_at TEXT NOT NULL,
  ended_at TEXT,
  FOREIGN KEY (proposal_id, revision) REFERENCES revisions (proposal_id, number)
) STRICT;
CREATE INDEX transactions_by_proposal ON transactions (proposal_id);
CREATE INDEX transactions_by_status ON transactions (status);

CREATE TABLE transaction_phases (
  transaction_id TEXT NOT NULL REFERENCES transactions (id),
  sequence INTEGER NOT NULL,
  phase TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  outcome TEXT CHECK (outcome IN ('ok', 'failed', 'recovered')),
  detail TEXT,
  PRIMARY KEY (transaction_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER transaction_phases_stay BEFORE DELETE ON transaction_phases
BEGIN SELECT RAISE(ABORT, 'rows of transaction_phases are never deleted'); END;

CREATE TABLE requests (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  principal TEXT NOT NULL ${PRINCIPAL('principal')},
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'done', 'failed')),
  result TEXT,
  created_at TEXT NOT NULL,
  ended_at TEXT
) STRICT;
CREATE INDEX requests_by_status ON requests (status);

${guarded('runs', 'run')}
${guarded('tasks', 'task')}
${guarded('agents', 'agent')}
${guarded('sessions', 'session')}
${guarded('claims', 'claim', 'OR fencing_token = NEW.fencing_token')}
${guarded('proposals', 'proposal')}
${guarded('transactions', 'transaction')}
`;

/**
 * Law of the lifecycles, kept by the database: only listed moves, only known statuses, and no way round by deleting,
 * renaming or replacing a row (REPLACE fires no delete triggers unless a pragma of the connection says so).
 */
function guarded(table: string, entity: string, orSame = ''): string {
  return `
CREATE TRIGGER ${table}_moves BEFORE UPDATE OF status ON ${table}
WHEN NEW.status IS NOT OLD.status AND NOT EXISTS (
  SELECT 1 FROM legal_moves WHERE entity = '${entity}' AND from_status = OLD.status AND to_status = NEW.status)
BEGIN SELECT RAISE(ABORT, 'illegal_status_change'); END;
CREATE TRIGGER ${table}_statuses BEFORE INSERT ON ${table}
WHEN NOT EXISTS (SELECT 1 FROM legal_moves WHERE entity = '${entity}' AND NEW.status IN (from_status, to_status))
BEGIN SELECT RAISE(ABORT, 'unknown_status'); END;
CREATE TRIGGER ${table}_once BEFORE INSERT ON ${table}
WHEN EXISTS (SELECT 1 FROM ${table} WHERE seq = NEW.seq OR id = NEW.id ${orSame})
BEGIN SELECT RAISE(ABORT, 'rows of ${table} are never replaced; this one exists already'); END;
CREATE TRIGGER ${table}_keep_id BEFORE UPDATE OF id, seq ON ${table}
WHEN NEW.id IS NOT OLD.id OR NEW.seq IS NOT OLD.seq
BEGIN SELECT RAISE(ABORT, 'ids of ${table} never change'); END;
CREATE TRIGGER ${table}_stay BEFORE DELETE ON ${table}
BEGIN SELECT RAISE(ABORT, 'rows of ${table} are never deleted'); END;`;
}
