/** What an adapter needs to plan one session. Text fields are data; nothing here is ever parsed by a shell. */
export interface AdapterSessionInput {
  readonly adapterName: string;
  readonly command: string | null;
  readonly args: readonly string[];
  readonly model: string;
  readonly prompt: string;
  readonly briefing: string;
  readonly credentials: Readonly<Record<string, string>>;
}

/** How to start the agent program in the room. */
export interface AdapterPlan {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute room path → contents; seeded 0400 for uid 1000 before the start. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly stdin: Uint8Array | null;
  readonly cwd: string;
}

/** What was read from the program's output; null where it said nothing usable. */
export interface AdapterObservation {
  readonly externalSessionId: string | null;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly usd: number | null } | null;
  readonly outcome: string | null;
}

export interface Adapter {
  readonly kind: AdapterKind;
  plan(input: AdapterSessionInput): AdapterPlan;
  /** Complete stdout as kept (it may be truncated at the front or the end). */
  parse(stdout: string, truncated: boolean): AdapterObservation;
}

export type AdapterKind = 'codex' | 'claude' | 'gemini' | 'opencode' | 'generic';

export interface AdapterCatalog {
  /** Null for a kind this version does not have. */
  find(kind: AdapterKind): Adapter | null;
  kinds(): readonly AdapterKind[];
}
