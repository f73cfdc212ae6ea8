/**
 * Keys whose part of the engine does not exist in this version. `harmless` lists the values that ask for nothing that is
 * not given anyway; every other value is refused, because a bound or a feature that is silently ignored is worse than
 * none. Whoever builds the part deletes its row. `*` stands for any one name.
 */
export interface NotYetEnforced {
  readonly key: string;
  readonly harmless: readonly unknown[];
  /** What a refused value would ask for, as in "this version …". */
  readonly lacks: string;
}

export const NOT_YET_ENFORCED: readonly NotYetEnforced[] = [
  { key: 'runtime.transport', harmless: ['auto', 'socket'], lacks: 'has no stream transport' },
  { key: 'sandbox.checkpoint_seconds', harmless: [60], lacks: 'takes no checkpoints' },
  { key: 'mcp.http_address', harmless: ['auto', 'off'], lacks: 'serves no MCP over HTTP' },
  { key: 'mcp.tls_cert_file', harmless: [null], lacks: 'serves no MCP over HTTP' },
  { key: 'mcp.tls_key_file', harmless: [null], lacks: 'serves no MCP over HTTP' },
  { key: 'egress.connections', harmless: [32], lacks: 'gives sessions no network at all' },
  { key: 'egress.session_bytes', harmless: [null], lacks: 'gives sessions no network at all' },
  { key: 'egress.bytes_per_second', harmless: [null], lacks: 'gives sessions no network at all' },
  { key: 'claims.mode', harmless: ['auto'], lacks: 'does not enforce strict claims' },
  { key: 'turns.lease_seconds', harmless: [900], lacks: 'has no turns' },
  { key: 'limits.max_revisions', harmless: [3], lacks: 'bounds revisions by limits.max_attempts only' },
  { key: 'limits.run_usd', harmless: [null], lacks: 'does not enforce budgets' },
  { key: 'limits.run_tokens', harmless: [null], lacks: 'does not enforce budgets' },
  { key: 'limits.session_usd', harmless: [null], lacks: 'does not enforce budgets' },
  { key: 'limits.session_tokens', harmless: [null], lacks: 'does not enforce budgets' },
  { key: 'schemas', harmless: [{}], lacks: 'has no claims on database schemas' },
  { key: 'notify.bell', harmless: [true, false], lacks: 'does not ring the bell' },
  { key: 'notify.command', harmless: [null], lacks: 'starts no program for notices' },
  { key: 'ui.mouse', harmless: [false], lacks: 'does not use the mouse' },
  { key: 'ui.theme', harmless: ['auto'], lacks: 'has one theme' },
  { key: 'adapters.*.kind', harmless: ['generic'], lacks: 'has the generic adapter only' },
  { key: 'adapters.*.supports_resume', harmless: [false], lacks: 'continues no conversation' },
  { key: 'adapters.*.provider_hosts', harmless: [[]], lacks: 'gives sessions no network at all' },
  { key: 'adapters.*.login_hosts', harmless: [[]], lacks: 'gives sessions no network at all' },
  { key: 'adapters.*.provider_cidrs', harmless: [{}], lacks: 'gives sessions no network at all' },
  { key: 'adapters.*.provider_home', harmless: ['discard'], lacks: 'keeps no home directories' },
];

/** The row of a key as written in the documentation (`adapters.*.kind`), or null when the key is enforced. */
export function notYetEnforced(key: string): NotYetEnforced | null {
  return NOT_YET_ENFORCED.find((row) => row.key === key) ?? null;
}
