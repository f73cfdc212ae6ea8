import type { Commands } from '../../engine/api.ts';
import type { ScreenState, UiState } from '../state/screen-state.ts';
import type { DetailModel } from '../views/details/detail-model.ts';
import type { Layout } from '../views/layout.ts';
import type { ListModels } from '../views/list-model.ts';

/** Everything an action may look at. */
export interface ActionView {
  readonly state: ScreenState;
  readonly models: ListModels;
  readonly layout: Layout;
  /** Id of the selection in the current list. */
  readonly selected: string | null;
  /** Made on demand: the detail and how many of its rows are visible. */
  detail(): { readonly model: DetailModel; readonly height: number };
}

/** Everything an action may do. */
export interface ActionHost {
  update(change: (ui: UiState) => UiState): void;
  /** Sends a command; its refusal becomes a notice with the remedy, its success `done`. `label` says what is under way. */
  command<N extends keyof Commands>(
    name: N,
    input: Commands[N]['in'],
    label: string,
    done: (value: Commands[N]['out']) => string,
  ): void;
  /** Leaves the screen; `how` is passed to the engine. */
  exit(how: 'drain' | 'stop', code: number): void;
  suspend(): void;
  /** Paints every row again, after something else wrote to the terminal. */
  redraw(): void;
}

export interface Action {
  /** Why it can't act now, or null. Shown when its key is pressed all the same. */
  readonly unavailable?: (view: ActionView) => string | null;
  readonly run: (view: ActionView, host: ActionHost) => void;
}

export function say(host: ActionHost, text: string): void {
  host.update((ui) => ({ ...ui, notice: { level: 'info', text, remedy: '' } }));
}
