import { STATUS_CODES } from 'node:http';
import type { EgressRule } from '../../engine/ports/egress-gateway.ts';
import { EGRESS_RULES } from './rules.ts';

export const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** The answer to a refused request: rule in a header and in the body. Repeats nothing of the request, which is not ours. */
export function refusalResponse(rule: EgressRule): string | null {
  const { status, meaning, remedy } = EGRESS_RULES[rule];
  if (status === null) return null;
  const body = `Refused by the egress gateway (${rule}): ${meaning}. ${remedy}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    `X-Roundtable-Rule: ${rule}`,
    ...(status === 405 ? ['Allow: CONNECT'] : []),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
