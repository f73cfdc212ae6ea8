import { parseHelloMessage } from './client-hello-message.ts';
import { asciiLowerCase, hostNameFault } from './host-name.ts';

type HelloFault =
  | 'incomplete'
  | 'not-tls'
  | 'record-version'
  | 'record-length'
  | 'record-empty'
  | 'record-type'
  | 'handshake-type'
  | 'handshake-trailing'
  | 'too-large'
  | 'malformed'
  | 'duplicate-extension'
  | 'ech'
  | 'sni-missing'
  | 'sni-invalid'
  | 'sni-mismatch';

export type HelloProgress =
  | { readonly state: 'more' }
  /** `sni` is the name as sent. */
  | { readonly state: 'done'; readonly sni: string }
  | { readonly state: 'refused'; readonly rule: HelloFault; readonly sni: string | null };

export interface ClientHelloReader {
  /** Takes octets as they arrive; after `done` or `refused` it must not be called again. Keeps no octet of the input but the message. */
  push(chunk: Buffer): HelloProgress;
  /** The stream ended before a decision. */
  end(): HelloProgress;
}

const MORE: HelloProgress = { state: 'more' };
const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const MAX_RECORD = 16_384;

/**
 * Reads one ClientHello across any number of segments and records, and decides whether the tunnel that was authorised
 * for `host` (lower case) may carry it. What follows the message's last record is opaque and not looked at. Stricter
 * than RFC 8446: record versions other than 3.1 to 3.3, empty records and octets after the message in its last record
 * are refused, since endpoints that differ on them could see another name than we do.
 */
export function createClientHelloReader(host: string, maxMessageBytes: number): ClientHelloReader {
  const header = Buffer.alloc(RECORD_HEADER);
  let headerLength = 0;
  let recordLeft = 0;
  let isFirstRecord = true;
  let message = Buffer.alloc(1024);
  let messageLength = 0;
  let messageSize: number | null = null;

  function takeHeaderOctet(octet: number): HelloProgress | null {
    header[headerLength] = octet;
    headerLength += 1;
    if (headerLength === 1 && octet !== HANDSHAKE) return refuse(isFirstRecord ? 'not-tls' : 'record-type');
    if (headerLength === 2 && octet !== 3) return refuse('record-version');
    if (headerLength === 3 && (octet < 1 || octet > 3)) return refuse('record-version');
    if (headerLength < RECORD_HEADER) return null;
    recordLeft = header.readUInt16BE(3);
    headerLength = 0;
    isFirstRecord = false;
    if (recordLeft === 0) return refuse('record-empty');
    return recordLeft > MAX_RECORD ? refuse('record-length') : null;
  }

  function takeMessageOctet(octet: number): HelloProgress | null {
    if (messageLength === message.length) message = Buffer.concat([message], message.length * 2);
    message[messageLength] = octet;
    messageLength += 1;
    recordLeft -= 1;
    if (messageLength === 1 && octet !== CLIENT_HELLO) return refuse('handshake-type');
    if (messageLength < MESSAGE_HEADER) return null;
    messageSize ??= MESSAGE_HEADER + message.readUIntBE(1, 3);
    if (messageSize > maxMessageBytes) return refuse('too-large');
    if (messageLength < messageSize) return null;
    if (recordLeft > 0) return refuse('handshake-trailing');
    return judge(message.subarray(MESSAGE_HEADER, messageLength), host);
  }

  return {
    push(chunk) {
      for (const octet of chunk) {
        const step = recordLeft === 0 ? takeHeaderOctet(octet) : takeMessageOctet(octet);
        if (step !== null) return step;
      }
      return MORE;
    },
    end: () => refuse('incomplete'),
  };
}

function judge(body: Buffer, host: string): HelloProgress {
  const hello = parseHelloMessage(body);
  if (hello === null) return refuse('malformed');
  const name = hello.serverNames.length === 1 ? (hello.serverNames[0] ?? null) : null;
  const sni = name !== null && hostNameFault(name) === null ? name : null;
  if (hello.hasRepeatedExtension) return refuse('duplicate-extension', sni);
  if (hello.hidesName) return refuse('ech', sni);
  if (hello.serverNames.length === 0) return refuse('sni-missing');
  if (sni === null) return refuse('sni-invalid');
  return asciiLowerCase(sni) === host ? { state: 'done', sni } : refuse('sni-mismatch', sni);
}

function refuse(rule: HelloFault, sni: string | null = null): HelloProgress {
  return { state: 'refused', rule, sni };
}
