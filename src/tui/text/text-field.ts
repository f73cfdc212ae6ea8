/** A line or a few lines that the operator types. `cursor` counts clusters, so that an accent or emoji is one step. */
export interface TextField {
  readonly clusters: readonly string[];
  readonly cursor: number;
}

/** More than this is a document for an editor, not a field. */
const MAX_CLUSTERS = 8_000;
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function textField(text = ''): TextField {
  const clusters = Array.from(segmenter.segment(text), (part) => part.segment).slice(0, MAX_CLUSTERS);
  return { clusters, cursor: clusters.length };
}

export function fieldText(field: TextField): string {
  return field.clusters.join('');
}

export function insertText(field: TextField, text: string): TextField {
  const added = Array.from(segmenter.segment(text.replace(/\r\n?/g, '\n')), (part) => part.segment);
  const room = Math.max(0, MAX_CLUSTERS - field.clusters.length);
  const kept = added.slice(0, room);
  return {
    clusters: [...field.clusters.slice(0, field.cursor), ...kept, ...field.clusters.slice(field.cursor)],
    cursor: field.cursor + kept.length,
  };
}

/** Editing keys by name; null when the key does nothing in a field. */
export function editField(field: TextField, key: string): TextField | null {
  const { clusters, cursor } = field;
  switch (key) {
    case 'backspace':
      if (cursor === 0) return field;
      return { clusters: [...clusters.slice(0, cursor - 1), ...clusters.slice(cursor)], cursor: cursor - 1 };
    case 'delete':
    case 'ctrl-d':
      return { clusters: [...clusters.slice(0, cursor), ...clusters.slice(cursor + 1)], cursor };
    case 'left':
    case 'ctrl-b':
      return { clusters, cursor: Math.max(0, cursor - 1) };
    case 'right':
    case 'ctrl-f':
      return { clusters, cursor: Math.min(clusters.length, cursor + 1) };
    case 'home':
    case 'ctrl-a':
      return { clusters, cursor: 0 };
    case 'end':
    case 'ctrl-e':
      return { clusters, cursor: clusters.length };
    case 'ctrl-u':
      return { clusters: clusters.slice(cursor), cursor: 0 };
    case 'ctrl-k':
      return { clusters: clusters.slice(0, cursor), cursor };
    case 'ctrl-w': {
      let start = cursor;
      while (start > 0 && clusters[start - 1] === ' ') start--;
      while (start > 0 && clusters[start - 1] !== ' ') start--;
      return { clusters: [...clusters.slice(0, start), ...clusters.slice(cursor)], cursor: start };
    }
    default:
      return null;
  }
}
