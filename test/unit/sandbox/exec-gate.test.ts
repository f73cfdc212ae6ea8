import { describe, expect, it } from 'vitest';
import { ExecGate, type ExecProgress } from '../../../src/sandbox/containers/exec-gate.ts';

describe('the gate between starting programs and pausing', () => {
  it('pauses at once when nothing is starting', async () => {
    let paused = false;
    await new ExecGate().pause(async () => {
      paused = true;
    });
    expect(paused).toBe(true);
  });

  it('pauses only when the engine says that the program runs', async () => {
    const gate = new ExecGate();
    const answers: ExecProgress[] = ['idle', 'starting', 'starting', 'started'];
    const asked: ExecProgress[] = [];
    const progress = async () => {
      const answer = answers.shift() ?? 'started';
      asked.push(answer);
      return answer;
    };
    expect(await gate.begin(progress, async () => 'stream')).toBe('stream');
    await gate.pause(async () => {
      expect(asked).toEqual(['idle', 'starting', 'starting', 'started']);
    });
    // It is not asked about again.
    await gate.pause(async () => {});
    expect(asked).toHaveLength(4);
  });

  it('lets a start wait for a pause that is under way', async () => {
    const gate = new ExecGate();
    const order: string[] = [];
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const pausing = gate.pause(async () => {
      await held;
      order.push('paused');
    });
    const beginning = gate.begin(
      async () => 'started',
      async () => order.push('begun'),
    );
    release();
    await Promise.all([pausing, beginning]);
    expect(order).toEqual(['paused', 'begun']);
  });

  it('still waits for a start that was given up, since the engine may go on with it', async () => {
    const gate = new ExecGate();
    const answers: ExecProgress[] = ['starting', 'started'];
    const failing = gate.begin(
      async () => answers.shift() ?? 'started',
      async () => {
        throw new Error('cancelled');
      },
    );
    await expect(failing).rejects.toThrow('cancelled');
    await gate.pause(async () => {
      expect(answers).toEqual([]);
    });
  });

  it('forgets a start that the engine never heard of', async () => {
    const gate = new ExecGate();
    const failing = gate.begin(
      async () => 'idle',
      async () => {
        throw new Error('refused');
      },
    );
    await expect(failing).rejects.toThrow('refused');
    const began = Date.now();
    await gate.pause(async () => {});
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  it('can be used again after a pause that failed', async () => {
    const gate = new ExecGate();
    await expect(
      gate.pause(async () => {
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    expect(
      await gate.begin(
        async () => 'started',
        async () => 1,
      ),
    ).toBe(1);
  });
});
