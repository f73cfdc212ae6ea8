/**
 * Names by the machine's DNS servers, asked directly. Trusts nothing of the answers: they are texts that the address
 * check reads. Not getaddrinfo, which tries search domains (a lookup of an allowed name would leak under other names)
 * and can't be cancelled (a few hanging lookups would block the thread pool).
 */
import { Resolver } from 'node:dns/promises';
import type { NameResolver } from './resolve.ts';

/** `servers` as `address` or `address:port`; null asks the machine's own. */
export function createSystemResolver(servers: readonly string[] | null = null): NameResolver {
  return async (name, family, signal) => {
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers !== null) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    } catch (error) {
      // The name exists without such a record.
      if (error instanceof Error && 'code' in error && error.code === 'ENODATA') return [];
      throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}
