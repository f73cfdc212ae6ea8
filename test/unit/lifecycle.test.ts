import { describe, expect, it } from 'vitest';
import { isTerminal, LIFECYCLES, legalTargets, transition } from '../../src/engine/domain/lifecycle.ts';

// Written out from the rules by hand, on purpose not made from the table: `from → to` pairs and final statuses.
const EXPECTED: Record<string, { moves: string; final: string }> = {
  run: {
    moves: `active>paused paused>active
      active>draining paused>draining blocked>draining draining>stopped
      active>completed active>blocked
      blocked>active stopped>active
      active>failed paused>failed draining>failed blocked>failed`,
    final: 'completed failed',
  },
  task: {
    moves: `proposed>open proposed>cancelled
      open>assigned assigned>in_progress in_progress>in_review in_review>done
      in_review>in_progress
      open>blocked assigned>blocked in_progress>blocked blocked>open
      assigned>open in_progress>open
      done>open
      open>failed assigned>failed in_progress>failed in_review>failed blocked>failed
      open>cancelled assigned>cancelled in_progress>cancelled in_review>cancelled blocked>cancelled`,
    final: 'failed cancelled',
  },
  agent: {
    moves: `idle>running running>idle
      idle>draining running>draining draining>disabled disabled>idle
      draining>idle draining>running`,
    final: '',
  },
  claim: {
    moves: `active>released active>expired active>revoked active>suspended active>transferred
      suspended>active suspended>revoked suspended>expired`,
    final: 'released expired revoked transferred',
  },
  proposal: {
    moves: `draft>pending pending>in_review in_review>approved approved>applying applying>accepted accepted>reverted
      pending>revision_requested in_review>revision_requested approved>revision_requested revision_requested>pending
      approved>pending applying>approved
      draft>rejected pending>rejected in_review>rejected revision_requested>rejected approved>rejected
      draft>withdrawn pending>withdrawn in_review>withdrawn revision_requested>withdrawn approved>withdrawn`,
    final: 'reverted rejected withdrawn',
  },
  session: {
    moves: `starting>running running>exporting exporting>succeeded running>paused paused>running
      starting>failed running>failed paused>failed exporting>failed
      starting>timed_out running>timed_out paused>timed_out exporting>timed_out
      starting>cancelled running>cancelled paused>cancelled exporting>cancelled
      starting>orphaned running>orphaned paused>orphaned exporting>orphaned
      running>ended`,
    final: 'succeeded failed timed_out cancelled orphaned ended',
  },
  transaction: {
    moves: `prepared>verified verified>applying applying>applied applied>reverted
      prepared>aborted verified>aborted applying>aborted`,
    final: 'reverted aborted',
  },
  turn: {
    moves: 'queued>granted granted>started started>completed granted>expired started>expired',
    final: 'completed expired',
  },
};

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

describe('the lifecycle tables', () => {
  it('are those of the eight entities', () => {
    expect(Object.keys(LIFECYCLES).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(Object.entries(EXPECTED))('%s has exactly the moves that the rules list', (entity, { moves }) => {
    const table: Record<string, readonly string[]> = LIFECYCLES[entity as keyof typeof LIFECYCLES];
    const actual = Object.entries(table).flatMap(([from, targets]) => targets.map((to) => `${from}>${to}`));
    expect(actual.sort()).toEqual(words(moves).sort());
  });

  it.each(Object.entries(EXPECTED))('%s ends where the rules say so', (entity, { final }) => {
    const key = entity as keyof typeof LIFECYCLES;
    const ends = Object.keys(LIFECYCLES[key]).filter((status) => isTerminal(key, status));
    expect(ends.sort()).toEqual(words(final).sort());
  });
});

describe('transition', () => {
  it('answers the new status of a listed move', () => {
    expect(transition('run', 'R-1', 'active', 'paused')).toEqual({ ok: true, value: 'paused' });
  });

  it('names what was tried and what would be possible', () => {
    expect(transition('claim', 'C-7', 'suspended', 'released')).toEqual({
      ok: false,
      error: {
        code: 'illegal_transition',
        entity: 'claim',
        id: 'C-7',
        from: 'suspended',
        event: 'released',
        message: "claim C-7 is suspended and can't become released",
        remedy: 'from suspended it can only become active, revoked, expired',
      },
    });
  });

  it('says that a final status is final', () => {
    const refused = transition('task', 'T-1', 'failed', 'open');
    expect(refused.ok ? '' : refused.error.remedy).toBe('failed is final');
  });

  it('finds no moves under names that every object inherits', () => {
    expect(legalTargets('run', 'constructor')).toEqual([]);
    expect(legalTargets('run', '__proto__')).toEqual([]);
  });
});
