import { asciiLowerCase } from './host-name.ts';

type RequestFault =
  | 'bad-request'
  | 'bad-version'
  | 'method-not-allowed'
  | 'bad-host-header'
  | 'body-not-allowed'
  | 'header-too-large'
  | 'request-line-too-long';

type RequestProgress =
  | { readonly state: 'more' }
  /** `target` is the authority as sent; `rest` are the octets after the head: they belong to the tunnel. */
  | { readonly state: 'done'; readonly target: string; readonly rest: Buffer }
  | { readonly state: 'refused'; readonly rule: RequestFault; readonly target: string | null };

export interface ConnectRequestReader {
  /** Takes octets as they arrive; after `done` or `refused` it must not be called again. */
  push(chunk: Buffer): RequestProgress;
}

export interface RequestLimits {
  readonly headBytes: number;
  readonly headers: number;
}

const MORE: RequestProgress = { state: 'more' };
const CR = 0x0d;
const LF = 0x0a;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Strict reader of one CONNECT head (RFC 9112 without what it lets recipients tolerate: bare LF, folding, blanks before
 * the colon, empty lines in front). It looks at octets one by one, so how they were cut into chunks can't change the
 * answer, and never holds more than `headBytes`.
 */
export function createConnectRequestReader(limits: RequestLimits): ConnectRequestReader {
  const line = Buffer.alloc(limits.headBytes);
  let lineLength = 0;
  let headLength = 0;
  let request: { readonly target: string; readonly version: string } | null = null;
  const headers: Header[] = [];

  function refuse(rule: RequestFault): RequestProgress {
    return { state: 'refused', rule, target: request?.target ?? null };
  }

  /** Takes one octet; null while nothing is decided. */
  function take(octet: number): RequestProgress | 'end' | null {
    headLength += 1;
    if (headLength > limits.headBytes) return refuse(request === null ? 'request-line-too-long' : 'header-too-large');
    const afterCr = lineLength > 0 && line[lineLength - 1] === CR;
    if (afterCr !== (octet === LF)) return refuse('bad-request');
    if (octet !== LF) {
      if (octet !== CR && !isLineOctet(octet, request === null)) return refuse('bad-request');
      line[lineLength] = octet;
      lineLength += 1;
      return null;
    }
    const text = line.toString('latin1', 0, lineLength - 1);
    lineLength = 0;
    return request === null ? takeRequestLine(text) : takeHeaderLine(text);
  }

  function takeRequestLine(text: string): RequestProgress | null {
    const parts = text.split(' ');
    const [method = '', target = '', version = ''] = parts;
    if (parts.length !== 3 || !TOKEN.test(method) || target === '' || version === '') return refuse('bad-request');
    request = { target, version };
    if (method !== 'CONNECT') return refuse('method-not-allowed');
    if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') return refuse('bad-version');
    return null;
  }

  function takeHeaderLine(text: string): RequestProgress | 'end' | null {
    if (text === '') {
      const rule = request === null ? 'bad-request' : headFault(request, headers);
      return rule === null ? 'end' : refuse(rule);
    }
    if (headers.length === limits.headers) return refuse('header-too-large');
    const colon = text.indexOf(':');
    // A folded line, a blank before the colon and an empty name all fail here: none of them is a token.
    if (!TOKEN.test(text.slice(0, Math.max(colon, 0)))) return refuse('bad-request');
    headers.push({ name: asciiLowerCase(text.slice(0, colon)), value: trimBlanks(text.slice(colon + 1)) });
    return null;
  }

  return {
    push(chunk) {
      for (let index = 0; index < chunk.length; index += 1) {
        const step = take(chunk[index] ?? 0);
        if (step === 'end') return { state: 'done', target: request?.target ?? '', rest: chunk.subarray(index + 1) };
        if (step !== null) return step;
      }
      return MORE;
    },
  };
}

interface Header {
  readonly name: string;
  readonly value: string;
}

/** Controls never; a tab only in header values; the request line may hold octets above 127, which the host check names. */
function isLineOctet(octet: number, inRequestLine: boolean): boolean {
  if (octet === 0x09) return !inRequestLine;
  return octet >= 0x20 && octet !== 0x7f;
}

/** What must hold for the head as a whole. */
function headFault(request: { target: string; version: string }, headers: readonly Header[]): RequestFault | null {
  const values = (name: string) => headers.filter((header) => header.name === name).map((header) => header.value);
  const lengths = values('content-length');
  if (values('transfer-encoding').length > 0 || lengths.length > 1 || (lengths[0] ?? '0') !== '0')
    return 'body-not-allowed';
  const hosts = values('host');
  const [host] = hosts;
  // HTTP/1.0 clients send none (python, pip, openssl).
  if (host === undefined) return request.version === 'HTTP/1.0' ? null : 'bad-host-header';
  if (hosts.length > 1) return 'bad-host-header';
  const target = asciiLowerCase(request.target);
  const named = asciiLowerCase(host);
  // undici and java leave the port out.
  return named === target || `${named}:443` === target ? null : 'bad-host-header';
}

function trimBlanks(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}
