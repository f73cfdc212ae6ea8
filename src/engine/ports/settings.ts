import type { Role } from '../domain/records.ts';
import type { AdapterKind } from './adapter-catalog.ts';
import type { RoomLimits } from './container-runtime.ts';

/** The configuration in the engine's own words: resolved, checked, units in the names. */
export interface Settings {
  readonly projectName: string;
  readonly room: RoomLimits;
  readonly outputBytes: number;
  readonly sessionTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly checkpointIntervalMs: number;
  /** Further globs of paths that no agent is given. */
  readonly withhold: readonly string[];
  readonly seccompProfile: string | null;
  readonly allowUnboundedVolumes: boolean;
  /** Apply an approved proposal at once, or wait for `apply`. */
  readonly applyMode: 'on_approval' | 'manual';
  /** False: change work tree and index, make no commit. */
  readonly commit: boolean;
  readonly signOff: boolean;
  readonly messageTemplate: string | null;
  readonly claimTtlMs: number;
  readonly maxSessions: number;
  readonly maxAttempts: number;
  readonly maxFileBytes: number;
  readonly maxChangedFiles: number;
  readonly runTimeoutMs: number | null;
  readonly tests: TestSettings;
  readonly defaultReadable: readonly string[];
  readonly defaultWritable: readonly string[];
  readonly agents: readonly AgentSettings[];
  readonly adapters: ReadonlyMap<string, AdapterSettings>;
}

export interface TestSettings {
  readonly required: readonly (readonly string[])[];
  /** Further commands for revisions that touch one of the globs. */
  readonly suites: readonly {
    readonly name: string;
    readonly paths: readonly string[];
    readonly commands: readonly (readonly string[])[];
  }[];
  /** Pinned image; null: that of the author's adapter. */
  readonly image: string | null;
  readonly timeoutMs: number;
  readonly prepare: PrepareSettings | null;
}

export interface PrepareSettings {
  readonly argv: readonly [string, ...string[]];
  /** Exact DNS names that the preparation may reach through the egress gateway. */
  readonly hosts: readonly string[];
  /** Directory of the workspace that it fills, e.g. `node_modules`. */
  readonly dir: string;
}

export interface AgentSettings {
  readonly id: string;
  readonly role: Role;
  readonly adapter: string;
  readonly model: string;
  readonly maxSessions: number;
}

export interface AdapterSettings {
  readonly name: string;
  readonly kind: AdapterKind;
  /** Pinned reference, or null until an image is built. */
  readonly image: string | null;
  readonly command: string | null;
  readonly args: readonly string[];
  readonly credentialEnv: readonly string[];
}

/** The settings in force; a valid edit of the file applies to what starts after it, an invalid one leaves the old. */
export interface SettingsSource {
  current(): Settings;
  /** Why the newest edit was refused, or null. */
  problem(): string | null;
}
