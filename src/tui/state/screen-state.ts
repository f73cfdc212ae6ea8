import type {
  DiffFile,
  EngineError,
  EventRecord,
  Snapshot,
  TransactionPhaseRecord,
  TransactionRecord,
} from '../../engine/api.ts';
import type { LogBuffer } from '../feeds/log-buffer.ts';
import type { TextField } from '../text/text-field.ts';
import type { DiffIndex } from '../views/diff-index.ts';
import { type ListId, type PaneId, perList } from './panes.ts';

/** What was read of the engine. */
export interface ScreenData {
  readonly snapshot: Snapshot | null;
  /** Why the snapshot may be old; null while queries answer. */
  readonly stale: string | null;
  /** The newest events, oldest first. */
  readonly events: readonly EventRecord[];
  readonly diff: DiffState | null;
  readonly transaction: TransactionState | null;
  readonly log: LogState | null;
}

export interface DiffState {
  readonly proposalId: string;
  readonly revision: number;
  readonly status: 'loading' | 'ready' | 'failed';
  readonly files: readonly DiffFile[];
  readonly index: DiffIndex;
  readonly error: EngineError | null;
}

export interface TransactionState {
  readonly id: string;
  /** Null while it loads, or when there is none. */
  readonly detail: {
    readonly record: TransactionRecord;
    readonly phases: readonly TransactionPhaseRecord[];
    readonly paths: readonly string[];
  } | null;
}

/** `buffer` changes in place; `version` grows with it, so that a new LogState means new lines. */
export interface LogState {
  readonly sessionId: string;
  readonly buffer: LogBuffer;
  readonly version: number;
  readonly ended: boolean;
  readonly problem: EngineError | null;
}

/** `index` is where it stood, for when the id is gone. A null id means the first row, whatever that is. */
export interface Selection {
  readonly id: string | null;
  readonly index: number;
}

export interface Notice {
  /** An error waits for Esc; the others go with the next key or after a while. */
  readonly level: 'error' | 'info' | 'done';
  readonly text: string;
  readonly remedy: string;
}

export type DialogState =
  | { readonly kind: 'help'; readonly pane: PaneId; readonly top: number }
  | { readonly kind: 'quit'; readonly cause: 'q' | 'ctrl-c' }
  | { readonly kind: 'approve'; readonly proposalId: string; readonly revision: number; readonly top: number }
  | {
      readonly kind: 'reject' | 'request_changes';
      readonly proposalId: string;
      readonly revision: number;
      readonly field: TextField;
    }
  | { readonly kind: 'rollback'; readonly transactionId: string; readonly field: TextField }
  | { readonly kind: 'stop_session'; readonly sessionId: string }
  | {
      readonly kind: 'new_task';
      readonly fields: readonly [TextField, TextField, TextField];
      readonly active: 0 | 1 | 2;
      readonly problem: string | null;
    };

/** What only this screen knows. */
export interface UiState {
  readonly focus: PaneId;
  /** The list whose selection the right side shows. */
  readonly list: ListId;
  readonly selections: Readonly<Record<ListId, Selection>>;
  readonly filters: Readonly<Record<ListId, string>>;
  /** Set while a filter is typed; `before` comes back with Esc. */
  readonly filtering: { readonly list: ListId; readonly field: TextField; readonly before: string } | null;
  readonly zoom: boolean;
  readonly detail: { readonly top: number; readonly left: number };
  /** Null follows the end; else the number of the first line shown, counted since the log began. */
  readonly log: { readonly top: number | null; readonly left: number };
  readonly dialog: DialogState | null;
  readonly notice: Notice | null;
  /** Commands under way, by what they do to what (`approve P-12`). */
  readonly busy: readonly string[];
}

export interface ScreenState {
  readonly data: ScreenData;
  readonly ui: UiState;
  readonly size: { readonly columns: number; readonly rows: number };
  /** Milliseconds since the epoch; moves on a slow timer so that ages are right. */
  readonly nowMs: number;
}

export function initialState(size: { columns: number; rows: number }, nowMs: number): ScreenState {
  return {
    data: { snapshot: null, stale: null, events: [], diff: null, transaction: null, log: null },
    ui: {
      focus: 'proposals',
      list: 'proposals',
      selections: perList(() => ({ id: null, index: 0 })),
      filters: perList(() => ''),
      filtering: null,
      zoom: false,
      detail: { top: 0, left: 0 },
      log: { top: null, left: 0 },
      dialog: null,
      notice: null,
      busy: [],
    },
    size,
    nowMs,
  };
}
