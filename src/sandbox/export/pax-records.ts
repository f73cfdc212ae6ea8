import { strictUtf8 } from '../../engine/domain/path.ts';
import { err, ok, type Result } from '../../engine/domain/result.ts';

export type PaxFault = 'pax_malformed' | 'pax_duplicate_key';

/**
 * Records of a PAX header, `length key=value LF` each, where the length counts bytes and includes itself. Values stay
 * bytes; each key may occur once; nothing may stand between, before or after the records.
 */
export function parsePaxRecords(data: Uint8Array): Result<ReadonlyMap<string, Uint8Array>, PaxFault> {
  const records = new Map<string, Uint8Array>();
  for (let start = 0; start < data.length; ) {
    const blank = data.indexOf(BLANK, start);
    const length = blank === -1 ? null : decimal(data.subarray(start, blank));
    if (length === null || start + length > data.length) return err('pax_malformed');
    const end = start + length - 1;
    const equals = data.indexOf(EQUALS, blank + 1);
    // At least one byte of key before the =, and the = before the closing LF.
    if (data[end] !== LINE_FEED || equals <= blank + 1 || equals >= end) return err('pax_malformed');
    const key = strictUtf8(data.subarray(blank + 1, equals));
    if (key === null) return err('pax_malformed');
    if (records.has(key)) return err('pax_duplicate_key');
    records.set(key, data.slice(equals + 1, end));
    start = end + 1;
  }
  return ok(records);
}

const BLANK = 0x20;
const EQUALS = 0x3d;
const LINE_FEED = 0x0a;

function decimal(digits: Uint8Array): number | null {
  const text = digits.length > 9 ? '' : Buffer.from(digits).toString('latin1');
  return /^[1-9][0-9]*$/.test(text) ? Number(text) : null;
}
