import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FramePainter } from '../../../src/tui/terminal/frame-painter.ts';

function collector(highWaterMark = 1 << 20) {
  const writes: string[] = [];
  let finish: (() => void) | null = null;
  const out = new Writable({
    highWaterMark,
    decodeStrings: false,
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      if (highWaterMark > 1) done();
      else finish = done;
    },
  });
  return { out, writes, drain: () => finish?.() };
}

describe('FramePainter', () => {
  it('paints a whole frame once, then only the rows that changed, at their own place', () => {
    const { out, writes } = collector();
    const painter = new FramePainter(out, 5, 3);
    painter.write('aaaaa\nb\nc');
    expect(writes).toEqual(['\u001b[?2026h\u001b[1;1Haaaaa\u001b[2;1Hb\u001b[K\u001b[3;1Hc\u001b[K\u001b[?2026l']);
    painter.write('aaaaa\nB\nc');
    expect(writes[1]).toBe('\u001b[?2026h\u001b[2;1HB\u001b[K\u001b[?2026l');
    painter.write('aaaaa\nB\nc');
    expect(writes).toHaveLength(2);
  });

  it('blanks rows that the next frame does not have, and never clears the screen', () => {
    const { out, writes } = collector();
    const painter = new FramePainter(out, 5, 3);
    painter.write('a\nb\nc');
    painter.write('a');
    expect(writes[1]).toBe('\u001b[?2026h\u001b[2;1H\u001b[K\u001b[3;1H\u001b[K\u001b[?2026l');
    painter.resize(5, 3);
    painter.write('a\nb');
    expect(writes[2]).toContain('\u001b[1;1Ha');
    expect(writes.join('')).not.toContain('\u001b[2J');
  });

  it('drops frames while the terminal does not keep up, and paints the newest when it does', async () => {
    const { out, writes, drain } = collector(1);
    const painter = new FramePainter(out, 5, 1);
    painter.write('1');
    for (const frame of ['2', '3', '4']) painter.write(frame);
    expect(writes).toHaveLength(1);
    drain();
    await new Promise((resolve) => setImmediate(resolve));
    expect(writes).toHaveLength(2);
    expect(writes[1]).toContain('4');
  });

  it('says nothing once it is closed', () => {
    const { out, writes } = collector();
    const painter = new FramePainter(out, 5, 1);
    painter.close();
    painter.write('late');
    expect(writes).toEqual([]);
  });
});
