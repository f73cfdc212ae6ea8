import { asciiLowerCase, hostNameFault } from './host-name.ts';

type AuthorityFault =
  | 'authority-malformed'
  | 'port-missing'
  | 'port-not-allowed'
  | 'ip-literal'
  | 'host-invalid'
  | 'host-not-ascii';

export type Authority =
  | { readonly ok: true; readonly host: string; readonly port: 443 }
  /** A well-formed host with another port is named, so that the record can say what was asked for. */
  | { readonly ok: false; readonly rule: AuthorityFault; readonly host: string | null; readonly port: number | null };

/**
 * Reads the request target of a CONNECT: `host:443` with exactly these port octets, host in lower case on return.
 * Nothing is trimmed, decoded or mapped. Any text is accepted as input.
 */
export function parseAuthority(text: string): Authority {
  const colon = text.lastIndexOf(':');
  const host = colon === -1 ? text : text.slice(0, colon);
  const port = colon === -1 ? '' : text.slice(colon + 1);

  if (/[^\x21-\x7e]/.test(host)) return refuse(/[^\0-\x7f]/.test(host) ? 'host-not-ascii' : 'authority-malformed');
  if (/[^0-9]/.test(port) && !text.endsWith(']')) return refuse('authority-malformed');
  if (/[[\]]/.test(text)) {
    const literal = /^\[[0-9A-Za-z.%_-]*:[0-9A-Za-z.:%_-]*\]:[0-9]+$/.test(text);
    return refuse(literal ? 'ip-literal' : 'authority-malformed');
  }
  // The underscore and the star are what people type into lists; they get the precise answer.
  if (host === '' || /[^A-Za-z0-9._*-]/.test(host)) return refuse('authority-malformed');

  const fault = hostNameFault(host);
  if (fault !== null) return refuse(fault);
  if (port === '') return refuse('port-missing');
  if ((port.startsWith('0') && port !== '0') || Number(port) > 65_535) return refuse('authority-malformed');
  if (port !== '443') return { ok: false, rule: 'port-not-allowed', host: asciiLowerCase(host), port: Number(port) };
  return { ok: true, host: asciiLowerCase(host), port: 443 };
}

function refuse(rule: AuthorityFault): Authority {
  return { ok: false, rule, host: null, port: null };
}
