import { afterEach, describe, expect, it } from 'vitest';
import { engineError, err } from '../../../src/engine/api.ts';
import { FakeEngine } from '../../support/fake-engine.ts';
import { AT, id, proposal, sampleSnapshot, task } from '../../support/sample-snapshot.ts';
import { driveScreen, type ScreenDriver } from '../../support/screen-driver.ts';

let screen: ScreenDriver;
afterEach(() => screen.close());

const ESC = '\u001b';
const sentNames = (): readonly string[] => screen.engine.sent.map((command) => command.name);

describe('approving', () => {
  it('sends one command for exactly the revision that was shown, after the dialog', async () => {
    screen = await driveScreen();
    screen.press('ja');
    expect(screen.state().ui.dialog).toMatchObject({ kind: 'approve', proposalId: 'P-12', revision: 2 });
    expect(sentNames()).toEqual([]);
    screen.press('y');
    const { ui } = await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent).toEqual([
      {
        name: 'proposal.approve',
        input: { proposalId: 'P-12', revision: 2, origin: 'tui', note: null },
        principal: 'operator',
      },
    ]);
    expect(ui.notice?.text).toBe('P-12 r2 is approved and applied as TX-6');
    await screen.until((state) => state.data.snapshot?.attention.length === 1);
  });

  it('refuses while a gate fails and says which and what to do', async () => {
    screen = await driveScreen();
    screen.press('a\r');
    expect(sentNames()).toEqual([]);
    expect(screen.state().ui.notice).toEqual({
      level: 'error',
      text: "P-13 can't be approved: tests does not hold",
      remedy: 'press m and send it back',
    });
  });

  it('refuses when a new revision arrives behind the open dialog', async () => {
    screen = await driveScreen();
    screen.press('ja');
    screen.engine.updateProposal('P-12', proposal('P-12', { currentRevision: 3 }));
    await screen.until((state) => state.data.snapshot?.proposals[1]?.currentRevision === 3);
    screen.press('y');
    expect(sentNames()).toEqual([]);
    expect(screen.state().ui.notice?.text).toContain('new revision r3');
  });

  it('does not send the same command twice while the first is under way', async () => {
    screen = await driveScreen();
    let release = (): void => undefined;
    screen.engine.gate = new Promise((resolve) => {
      release = resolve;
    });
    screen.press('ja\r');
    expect(screen.state().ui.busy).toEqual(['approve P-12']);
    screen.press('a\r');
    release();
    await screen.until((state) => state.ui.busy.length === 0);
    expect(sentNames()).toEqual(['proposal.approve']);
  });

  it('shows a refusal of the engine until Esc, whatever else is pressed', async () => {
    screen = await driveScreen();
    const refuse = engineError('worktree_dirty', 'src/users.ts has uncommitted edits', 'commit or stash them');
    screen.engine.command = async () => err(refuse);
    screen.press('ja\r');
    await screen.until((state) => state.ui.notice?.level === 'error');
    screen.press('jjk');
    expect(screen.state().ui.notice).toMatchObject({ remedy: 'commit or stash them' });
    screen.press(ESC);
    expect(screen.state().ui.notice).toBeNull();
  });

  it('says why it can not act where there is nothing to approve', async () => {
    screen = await driveScreen();
    screen.press('1a');
    expect(screen.state().ui.notice?.text).toBe('a: select a proposal first: 3 shows them');
    screen.press('3Ga');
    expect(screen.state().ui.notice?.text).toBe('a: P-11 is accepted, there is nothing to decide');
  });
});

describe('other decisions', () => {
  it('rejects with a reason, never without', async () => {
    screen = await driveScreen();
    screen.press('jx\r');
    expect(sentNames()).toEqual([]);
    expect(screen.state().ui.notice?.text).toContain('say why');
    screen.press('not needed\r');
    await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent[0]).toMatchObject({
      name: 'proposal.reject',
      input: { reason: 'not needed', revision: 2 },
    });
  });

  it('sends changes back with words of several lines, pasted ones too', async () => {
    screen = await driveScreen();
    screen.press(`jmfirst\n${ESC}[200~q and\ry${ESC}[201~`);
    screen.press('\r');
    await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent[0]).toMatchObject({
      name: 'proposal.requestChanges',
      input: { message: 'first\nq and\ny' },
    });
  });

  it('rolls back after a preview of the paths and with a reason', async () => {
    screen = await driveScreen();
    screen.press('7R');
    await screen.until((state) => state.data.transaction?.detail?.paths.length === 2, 'paths');
    screen.press('\r');
    expect(sentNames()).toEqual([]);
    screen.press('broke the import\r');
    await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent[0]).toMatchObject({
      name: 'transaction.rollback',
      input: { transactionId: 'TX-5', origin: 'tui', reason: 'broke the import' },
    });
    await screen.until((state) => state.data.snapshot?.transactions.some((row) => row.status === 'reverted') === true);
    screen.press('GR');
    expect(screen.state().ui.notice?.text).toContain('only what is applied');
  });

  it('stops a running session after a question, and no ended one', async () => {
    screen = await driveScreen();
    screen.press('4s');
    expect(screen.state().ui.dialog).toEqual({ kind: 'stop_session', sessionId: 'S-31' });
    screen.press(`${ESC}sy`);
    await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent).toMatchObject([{ name: 'session.stop', input: { sessionId: 'S-31' } }]);
    screen.press('Gs');
    expect(screen.state().ui.notice?.text).toContain('has ended');
  });

  it('writes a task with title, body and paths', async () => {
    screen = await driveScreen();
    screen.press('n\t\t\r');
    expect(screen.state().ui.dialog).toMatchObject({ kind: 'new_task', problem: 'a task needs a title' });
    screen.press('Fix it\rall of it\rsrc/a.ts, test/\r');
    await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent[0]).toMatchObject({
      name: 'task.add',
      input: { runId: null, tasks: [{ title: 'Fix it', body: 'all of it', writablePaths: ['src/a.ts', 'test/'] }] },
    });
  });

  it('confirms only tasks that wait for it', async () => {
    const sample = sampleSnapshot();
    screen = await driveScreen(new FakeEngine({ ...sample, tasks: [task('T-9', { status: 'proposed' })] }));
    screen.press('2c');
    await screen.until((state) => state.ui.notice?.level === 'done');
    expect(screen.engine.sent).toMatchObject([{ name: 'task.confirm', input: { taskId: 'T-9' } }]);
    await screen.until((state) => state.data.snapshot?.tasks[0]?.status === 'open');
    screen.press('c');
    expect(screen.state().ui.notice?.text).toContain('nothing to confirm');
  });
});

describe('moving', () => {
  it('walks through hunks and files of the diff', async () => {
    screen = await driveScreen();
    await screen.until((state) => state.data.diff?.status === 'ready');
    screen.press('j\r');
    await screen.until((state) => state.data.diff?.proposalId === 'P-12' && state.data.diff.status === 'ready');
    const start = screen.state().ui.detail.top;
    screen.press(']');
    const first = screen.state().ui.detail.top;
    screen.press(']]');
    const third = screen.state().ui.detail.top;
    expect(first).toBeGreaterThan(start);
    expect(third - first).toBe(11);
    screen.press(']');
    expect(screen.state().ui.notice?.text).toBe('this is the last hunk');
    screen.press('{');
    expect(screen.state().ui.detail.top).toBe(third - 1);
    screen.press('[');
    expect(screen.state().ui.detail.top).toBe(first + 5);
  });

  it('jumps through everything that needs the operator', async () => {
    screen = await driveScreen();
    screen.press('6!');
    expect(screen.state().ui).toMatchObject({ list: 'proposals', selections: { proposals: { id: 'P-12' } } });
    screen.press('!');
    expect(screen.state().ui.selections.proposals.id).toBe('P-13');
  });

  it('filters while one types, and Esc brings the list back', async () => {
    screen = await driveScreen();
    screen.press('/p-12');
    expect(screen.models('proposals', screen.state().data, screen.state().ui.filters.proposals).count).toBe(1);
    screen.press('\r');
    expect(screen.state().ui.filters.proposals).toBe('p-12');
    screen.press(ESC);
    expect(screen.state().ui.filters.proposals).toBe('');
    screen.press(`/xyz${ESC}`);
    expect(screen.state().ui).toMatchObject({ filtering: null, filters: { proposals: '' } });
  });

  it('keeps the place in a log while it grows, and follows again at its end', async () => {
    screen = await driveScreen();
    screen.engine.appendLog('S-31', 'stdout', 'line\n'.repeat(100));
    screen.press('4');
    screen.press('\t\t\t\t\t');
    expect(screen.state().ui.focus).toBe('log');
    await screen.until((state) => state.data.log?.buffer.end === 100);
    screen.press('g');
    expect(screen.state().ui.log.top).toBe(0);
    screen.engine.appendLog('S-31', 'stdout', 'more\n');
    await screen.until((state) => state.data.log?.buffer.end === 101);
    expect(screen.state().ui.log.top).toBe(0);
    screen.press('G');
    expect(screen.state().ui.log.top).toBeNull();
  });
});

describe('leaving', () => {
  it('asks while sessions run, and passes on what was chosen', async () => {
    screen = await driveScreen();
    screen.press('q');
    expect(screen.exits).toEqual([]);
    screen.press(`${ESC}qd`);
    expect(screen.exits).toEqual([{ how: 'drain', code: 0 }]);
    screen.press(`${ESC}`);
    screen.press('\u0003\u0003');
    expect(screen.exits[1]).toEqual({ how: 'stop', code: 130 });
  });

  it('goes at once when nothing runs, and when the engine is elsewhere', async () => {
    const sample = sampleSnapshot();
    const idle = sample.sessions.map((item) => ({ ...item, status: 'succeeded' as const, endedAt: AT }));
    screen = await driveScreen(new FakeEngine({ ...sample, sessions: idle }));
    screen.press('q');
    expect(screen.exits).toEqual([{ how: 'stop', code: 0 }]);
    screen.close();
    screen = await driveScreen(new FakeEngine({ ...sample, engine: { ...sample.engine, role: 'client' } }));
    screen.press('q');
    expect(screen.exits).toEqual([{ how: 'stop', code: 0 }]);
  });

  it('refuses Ctrl-Z with the reason while sessions run', async () => {
    screen = await driveScreen();
    screen.press('\u001a');
    expect(screen.suspended()).toBe(0);
    expect(screen.state().ui.notice?.text).toContain('would also stop the engine');
    const sessions = screen.engine.snapshot.sessions.filter((item) => item.id !== id.session('S-31'));
    screen.engine.change('session.succeeded', 'session', 'S-31', { sessions });
    await screen.until((state) => state.data.snapshot?.sessions.length === 2);
    screen.press('\u001a');
    expect(screen.suspended()).toBe(1);
  });
});

describe('an engine that does not answer', () => {
  it('marks what is shown as old, and clears it when it answers again', async () => {
    screen = await driveScreen();
    screen.engine.broken = new Error('store is busy');
    screen.engine.change('task.noted', 'task', 'T-9');
    await screen.until((state) => state.data.stale === 'store is busy');
    screen.engine.broken = null;
    screen.engine.change('task.noted', 'task', 'T-9');
    await screen.until((state) => state.data.stale === null);
  });
});
