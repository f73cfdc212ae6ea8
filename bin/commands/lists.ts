import { columns } from './columns.ts';
import type { CommandResult } from './context.ts';
import type { Invocation } from './invocation.ts';
import { type PageOptions, pageOf } from './page.ts';

/** Prints one page of a list: a table for people, `{items, next}` for programs. */
export function printPage<T extends { readonly id: string }, O extends PageOptions>(
  { out, options }: Invocation<O>,
  all: readonly T[],
  heading: readonly string[],
  row: (item: T) => readonly string[],
): CommandResult {
  const page = pageOf(all, options);
  if (!page.ok) return out.fail(page.error);
  out.document(page.value);
  if (page.value.items.length === 0) {
    out.note('none');
    return 0;
  }
  for (const line of columns(heading, page.value.items.map(row))) out.line(line);
  if (page.value.next !== null) out.note(`more: --after ${page.value.next}`);
  return 0;
}
