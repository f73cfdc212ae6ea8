/**
 * Names by the machine's DNS servers, asked directly. Trusts nothing of the answers: they are texts that the address
 * check reads. Not getaddrinfo, which tries search domains (a lookup of an allowed name would leak under other names)
 * and can't be cancelled (a few hanging lookups would block the thread pool).
 */
import { Resolver } from 'node:dns/promises';
import type { NameResolver } from './resolve.ts';

const NO_RECORD: ReadonlySet<string> = new Set(['ENODATA']);

export const systemResolver: NameResolver = async (name, family, signal) => {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && NO_RECORD.has(String(error.code))) return [];
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};
