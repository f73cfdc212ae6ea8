import { z } from 'zod';
import { type LimitBounds, ROOM_LIMITS } from '../domain/room-limits.ts';
import {
  complainAboutArgument,
  complainAboutCommand,
  complainAboutCredential,
  complainAboutDirectory,
  complainAboutFile,
  complainAboutHost,
  complainAboutImage,
  complainAboutMessageTemplate,
  complainAboutResumePattern,
  complainAboutScope,
  ROLES,
} from './names.ts';
import { ruled } from './validate.ts';

/**
 * `.roundtable/config.yaml`: every key with its range, default, unit and meaning. The validation, the editor schema and
 * the documentation are all made from this. Keys are as in the file; `settings-from-config.ts` puts them in the engine's words.
 */

const DIGEST_PATTERN = '^(?:.+@)?sha256:[0-9a-f]{64}$';

const text = z.string().min(1);
const flag = (fallback: boolean, description: string) => z.boolean().default(fallback).meta({ description });
const whole = (min: number, max: number, fallback: number, unit: string, description: string) =>
  z.int().min(min).max(max).default(fallback).meta({ description, unit });
const bounded = (bounds: LimitBounds, description: string) =>
  (bounds.integer ? z.int() : z.number())
    .min(bounds.min)
    .max(bounds.max)
    .default(bounds.default)
    .meta({ description, unit: bounds.unit });
const optional = <S extends z.ZodType>(schema: S, description: string, unit?: string) =>
  schema
    .nullable()
    .default(null as z.util.NoUndefined<z.output<z.ZodNullable<S>>>)
    .meta({ description, ...(unit === undefined ? {} : { unit }) });

const image = ruled(z.string(), complainAboutImage).meta({ pattern: DIGEST_PATTERN });
const host = ruled(z.string(), complainAboutHost);
const scope = ruled(text, complainAboutScope);
/** One command as an argument vector; nothing is ever given to a shell. */
export const argv = z
  .array(
    ruled(text, (word) => (word.includes('\0') ? { message: 'contains a NUL character', remedy: 'remove it' } : null)),
  )
  .min(1);
const entryName = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/);
const file = ruled(text, complainAboutFile);

const agent = z.strictObject({
  adapter: text.meta({ description: 'Name of an entry under `adapters`.' }),
  count: whole(
    1,
    32,
    1,
    'agents',
    'How many agents the entry stands for: NAME-1 … NAME-count, NAME being the singular of the entry.',
  ),
  role: z.enum(ROLES).optional().meta({
    description:
      'Role of these agents. Default: the role that the singular of the entry names, e.g. `implementers` → Implementer.',
  }),
  model: text
    .default('default')
    .meta({ description: 'Model handed to the adapter; `default` leaves the choice to the program.' }),
  max_sessions: whole(1, 16, 1, 'sessions', 'Sessions that one such agent may have at the same time.'),
});

const adapter = z.strictObject({
  kind: z.enum(['codex', 'claude', 'gemini', 'opencode', 'generic']).optional().meta({
    description: 'How the program is driven. Default: the entry’s name when that is a kind; else it must be given.',
  }),
  image: optional(
    image,
    'Image of the sessions, pinned: `name@sha256:…` or a local image id. Null until one is built: sessions are refused.',
  ),
  command: optional(
    ruled(text, complainAboutCommand),
    'The program, one argv element. Null: that of the kind (`sh` for generic).',
  ),
  args: z.array(ruled(z.string(), complainAboutArgument)).default([]).meta({
    description:
      'Arguments. For generic, `{{prompt}}`, `{{prompt_file}}` and `{{briefing_file}}` may stand as whole elements.',
  }),
  supports_resume: flag(false, 'The program can continue an earlier conversation.'),
  resume_pattern: optional(
    ruled(text, complainAboutResumePattern),
    'Arguments that continue a conversation, split at blanks, with exactly one standalone `{{external_session_id}}`.',
  ),
  supports_mcp: flag(true, 'The program can use MCP tools (declared).'),
  supports_readonly_workspace: flag(true, 'The program can work where it may only read (declared).'),
  captures_session_id: flag(true, 'Record the id that the program gives its conversation.'),
  provider_hosts: z
    .array(host)
    .default([])
    .meta({ description: 'Hosts that sessions may reach, port 443: exact DNS names, no wildcard, no address.' }),
  login_hosts: z
    .array(host)
    .default([])
    .meta({ description: 'Further hosts, for logging in and for sessions that use a login.' }),
  provider_cidrs: z
    .record(z.string(), z.array(text))
    .default({})
    .meta({ description: 'Host → networks; only where DNS answers with fake addresses.' }),
  credential_env: z.array(ruled(z.string(), complainAboutCredential)).default([]).meta({
    description: 'Names of environment variables that are handed to the program; the values never stand here.',
  }),
  provider_home: z.enum(['discard', 'keep']).default('discard').meta({
    description: 'What becomes of the program’s home directory: discarded, or kept in a private volume per agent.',
  }),
});

export const configurationSchema = z.strictObject({
  version: z.literal(1).default(1).meta({ description: 'Version of this file’s format.' }),
  project_name: text
    .max(64)
    .optional()
    .meta({ description: 'Name shown on screens. Default: the name of the directory.' }),
  storage: z
    .strictObject({
      dir: ruled(text, (dir) => (dir === 'auto' ? null : complainAboutFile(dir)))
        .default('auto')
        .meta({
          description: '`auto`: `roundtable` in the git directory that linked worktrees share; else an absolute path.',
        }),
    })
    .prefault({}),
  runtime: z
    .strictObject({
      engine: z
        .enum(['auto', 'docker', 'podman'])
        .default('auto')
        .meta({ description: 'Container engine; `auto` takes the first that answers.' }),
      socket: optional(file, 'Socket of the container engine. Null: found by `engine`.'),
      oci_runtime: optional(
        text,
        'OCI runtime that the engine must use, e.g. `runsc`; refused when it has none of that name.',
      ),
      seccomp_profile: optional(file, 'Stricter seccomp profile. Null: the engine’s own; it is never switched off.'),
      transport: z
        .enum(['auto', 'socket', 'stream'])
        .default('auto')
        .meta({ description: 'How sessions talk to the engine.' }),
      allow_unbounded_volumes: flag(false, 'Work on an engine that can not bound the size of a volume.'),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      memory_mib: bounded(ROOM_LIMITS.memoryMiB, 'Memory of a session, besides its volumes; no swap.'),
      cpus: bounded(ROOM_LIMITS.cpus, 'Processor time of a session.'),
      pids: bounded(ROOM_LIMITS.pids, 'Processes and threads of a session.'),
      nofile: bounded(ROOM_LIMITS.nofile, 'Open files of a process.'),
      shm_mib: bounded(ROOM_LIMITS.shmMiB, 'Shared memory.'),
      workspace_mib: bounded(ROOM_LIMITS.workspaceMiB, 'Volume of the workspace.'),
      temp_mib: bounded(ROOM_LIMITS.tempMiB, 'Volume of `/tmp`.'),
      home_mib: bounded(ROOM_LIMITS.homeMiB, 'Volume of the home directory.'),
      output_bytes: whole(
        4096,
        16_777_216,
        1_048_576,
        'bytes',
        'Kept of each output stream; more is cut off and said so.',
      ),
      session_minutes: whole(1, 1440, 30, 'minutes', 'Wall clock of a session.'),
      idle_minutes: whole(1, 1440, 10, 'minutes', 'A session that prints nothing for so long ends.'),
      checkpoint_seconds: whole(10, 3600, 60, 'seconds', 'Time between two saved copies of the workspace.'),
      withhold: z.array(scope).default([]).meta({
        description: 'Further globs of files that no agent is given, besides the built-in list of sensitive files.',
      }),
    })
    .prefault({}),
  mcp: z
    .strictObject({
      http_address: text
        .default('auto')
        .meta({ description: 'Address of the MCP server over HTTP: `auto`, `off` or HOST:PORT.' }),
      tls_cert_file: optional(file, 'Certificate of that server.'),
      tls_key_file: optional(file, 'Key of that server.'),
    })
    .prefault({}),
  egress: z
    .strictObject({
      connections: whole(1, 1024, 32, 'connections', 'Open connections of a session.'),
      session_bytes: optional(
        z.int().min(1),
        'Traffic of a session, both directions together. Null: no bound.',
        'bytes',
      ),
      bytes_per_second: optional(z.int().min(1), 'Rate of a session. Null: no bound.', 'bytes per second'),
    })
    .prefault({}),
  transactions: z
    .strictObject({
      apply: z
        .enum(['on_approval', 'manual'])
        .default('on_approval')
        .meta({ description: 'Apply an approved proposal at once, or wait for `roundtable apply`.' }),
      commit: flag(true, 'Make a commit; false changes work tree and index only.'),
      sign_off: flag(false, 'Add a Signed-off-by trailer of the operator.'),
      message_template: optional(
        ruled(text, complainAboutMessageTemplate),
        'Template of the commit message with `{{title}}`, `{{body}}`, `{{proposal}}`, `{{task}}`, `{{run}}`, `{{agent}}`. Null: title and body. Trailers come below in any case.',
      ),
    })
    .prefault({}),
  claims: z
    .strictObject({
      mode: z.enum(['auto', 'strict']).default('auto').meta({
        description: '`auto`: the engine claims what a task may write; `strict`: agents claim everything they touch.',
      }),
      ttl_seconds: whole(1, 86_400, 900, 'seconds', 'Lease of a claim; a running session renews it.'),
    })
    .prefault({}),
  turns: z.strictObject({ lease_seconds: whole(1, 86_400, 900, 'seconds', 'Lease of a granted turn.') }).prefault({}),
  limits: z
    .strictObject({
      max_sessions: z.int().min(1).max(64).optional().meta({
        description: 'Sessions at the same time. Default: half the processors, at least 2.',
        unit: 'sessions',
      }),
      max_attempts: whole(1, 20, 2, 'attempts', 'Sessions that a task may use before it has failed.'),
      max_revisions: whole(1, 100, 3, 'revisions', 'Revisions of a proposal.'),
      max_file_bytes: whole(1, 1_073_741_824, 10_485_760, 'bytes', 'Largest file of a change.'),
      max_changed_files: whole(1, 100_000, 2000, 'files', 'Files of a change.'),
      run_usd: optional(z.number().positive(), 'Cost of a run. Null: no bound.', 'US dollars'),
      run_tokens: optional(z.int().min(1), 'Tokens of a run. Null: no bound.', 'tokens'),
      run_minutes: optional(z.int().min(1).max(100_000), 'Wall clock of a run. Null: no bound.', 'minutes'),
      session_usd: optional(z.number().positive(), 'Cost of a session. Null: no bound.', 'US dollars'),
      session_tokens: optional(z.int().min(1), 'Tokens of a session. Null: no bound.', 'tokens'),
    })
    .prefault({}),
  tests: z
    .strictObject({
      required: z
        .array(argv)
        .default([])
        .meta({ description: 'Commands that must pass on the result of every change, each a list of arguments.' }),
      image: optional(image, 'Image in which they run, pinned. Null: that of the author’s adapter.'),
      timeout_seconds: whole(1, 86_400, 600, 'seconds', 'Wall clock of one command.'),
      prepare: optional(
        z.strictObject({
          argv: argv.meta({ description: 'Command that installs the dependencies.' }),
          hosts: z.array(host).default([]).meta({ description: 'Hosts that it may reach, exact DNS names.' }),
          dir: ruled(text, complainAboutDirectory)
            .default('node_modules')
            .meta({ description: 'Directory that it fills; mounted read-only for sessions and tests.' }),
        }),
        'How the dependencies are installed, once per lock file.',
      ),
      suites: z
        .record(
          entryName,
          z.strictObject({
            paths: z
              .array(scope)
              .min(1)
              .meta({ description: 'Globs; a change that touches one of them needs the commands.' }),
            commands: z.array(argv).min(1).meta({ description: 'Commands, each a list of arguments.' }),
          }),
        )
        .default({})
        .meta({ description: 'Further commands for changes that touch certain paths.' }),
    })
    .prefault({}),
  tasks: z
    .strictObject({
      default_readable: z
        .array(scope)
        .default(['.'])
        .meta({ description: 'What a task may read when it does not say.' }),
      default_writable: z
        .array(scope)
        .default(['.'])
        .meta({ description: 'What a task may write when it does not say.' }),
    })
    .prefault({}),
  schemas: z
    .record(entryName, z.array(scope))
    .default({})
    .meta({ description: 'Name of a database schema → globs of its migrations.' }),
  notify: z
    .strictObject({
      bell: flag(true, 'Ring the terminal’s bell when something waits for you.'),
      command: optional(argv, 'Program that is started when something waits for you.'),
    })
    .prefault({}),
  ui: z
    .strictObject({
      mouse: flag(false, 'Use the mouse on the screen.'),
      theme: z.enum(['auto', 'dark', 'light']).default('auto').meta({ description: 'Colours of the screen.' }),
    })
    .prefault({}),
  operator: z
    .strictObject({
      allow_noninteractive: flag(false, 'Accept decisions on the command line without a terminal and the id typed.'),
    })
    .prefault({}),
  agents: z
    .record(entryName, agent)
    .default({})
    .meta({ description: 'The team. The name of an entry is a plural or singular role.' }),
  adapters: z.record(entryName, adapter).default({}).meta({ description: 'The programs that agents run.' }),
});

/** A valid file with every default filled in; names as in the file. */
export type ConfigurationFile = z.output<typeof configurationSchema>;
