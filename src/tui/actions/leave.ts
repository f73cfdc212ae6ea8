import type { Action } from './action.ts';
import { liveSessions } from './targets.ts';

/** With live sessions of this engine it asks; otherwise it goes at once. A client only detaches. */
function leave(cause: 'q' | 'ctrl-c'): Action {
  return {
    run: (view, host) => {
      const owner = view.state.data.snapshot?.engine.role === 'owner';
      if (!owner || liveSessions(view) === 0) {
        host.exit('stop', cause === 'q' ? 0 : 130);
        return;
      }
      host.update((ui) => ({ ...ui, dialog: { kind: 'quit', cause } }));
    },
  };
}

export const quit = leave('q');
export const interrupt = leave('ctrl-c');

/** Stopping this process would stop the engine under the sessions. */
export const suspend: Action = {
  unavailable: (view) => {
    const live = liveSessions(view);
    if (view.state.data.snapshot?.engine.role !== 'owner' || live === 0) return null;
    return `Ctrl-Z would also stop the engine, and ${live} ${live === 1 ? 'session runs' : 'sessions run'} in it: q asks how to end them`;
  },
  run: (_view, host) => host.suspend(),
};

export const help: Action = {
  run: (view, host) => host.update((ui) => ({ ...ui, dialog: { kind: 'help', pane: view.state.ui.focus, top: 0 } })),
};

export const redraw: Action = { run: (_view, host) => host.redraw() };
