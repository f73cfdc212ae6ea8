import type { AdapterSettings, Settings } from '../ports/settings.ts';
import type { Configuration } from './load-config.ts';

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** The same configuration in the engine's words: camel case, milliseconds, maps. */
export function settingsFromConfig(config: Configuration): Settings {
  const { sandbox, transactions, limits, tests } = config;
  return {
    projectName: config.project_name,
    room: {
      memoryMiB: sandbox.memory_mib,
      cpus: sandbox.cpus,
      pids: sandbox.pids,
      nofile: sandbox.nofile,
      shmMiB: sandbox.shm_mib,
      workspaceMiB: sandbox.workspace_mib,
      tempMiB: sandbox.temp_mib,
      homeMiB: sandbox.home_mib,
    },
    outputBytes: sandbox.output_bytes,
    sessionTimeoutMs: sandbox.session_minutes * MINUTE_MS,
    idleTimeoutMs: sandbox.idle_minutes * MINUTE_MS,
    checkpointIntervalMs: sandbox.checkpoint_seconds * SECOND_MS,
    withhold: sandbox.withhold,
    seccompProfile: config.runtime.seccomp_profile,
    allowUnboundedVolumes: config.runtime.allow_unbounded_volumes,
    applyMode: transactions.apply,
    commit: transactions.commit,
    signOff: transactions.sign_off,
    messageTemplate: transactions.message_template,
    claimTtlMs: config.claims.ttl_seconds * SECOND_MS,
    maxSessions: limits.max_sessions,
    maxAttempts: limits.max_attempts,
    maxFileBytes: limits.max_file_bytes,
    maxChangedFiles: limits.max_changed_files,
    runTimeoutMs: limits.run_minutes === null ? null : limits.run_minutes * MINUTE_MS,
    tests: {
      required: tests.required,
      suites: Object.entries(tests.suites).map(([name, suite]) => ({ name, ...suite })),
      image: tests.image,
      timeoutMs: tests.timeout_seconds * SECOND_MS,
      prepare: tests.prepare === null ? null : { ...tests.prepare, argv: nonEmpty(tests.prepare.argv) },
    },
    defaultReadable: config.tasks.default_readable,
    defaultWritable: config.tasks.default_writable,
    agents: config.agents.map(({ max_sessions, ...agent }) => ({ ...agent, maxSessions: max_sessions })),
    adapters: new Map(Object.entries(config.adapters).map(([name, adapter]) => [name, adapterSettings(name, adapter)])),
  };
}

function adapterSettings(name: string, adapter: Configuration['adapters'][string]): AdapterSettings {
  const { kind, image, command, args, credential_env } = adapter;
  return { name, kind, image, command, args, credentialEnv: credential_env };
}

function nonEmpty(argv: readonly string[]): [string, ...string[]] {
  const [program, ...rest] = argv;
  if (program === undefined) throw new Error('the schema lets no empty argv through');
  return [program, ...rest];
}
