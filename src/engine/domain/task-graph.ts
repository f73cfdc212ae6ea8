/** Edges point from a task to what it depends on. Answers one cycle as the ids along it, first repeated at the end, or null. */
export function findCycle(edges: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const state = new Map<string, 'open' | 'done'>();
  for (const start of edges.keys()) {
    const cycle = walk(start, edges, state);
    if (cycle) return cycle;
  }
  return null;
}

/** Iterative depth-first search: a chain of thousands of tasks must not overflow the stack. */
function walk(
  start: string,
  edges: ReadonlyMap<string, readonly string[]>,
  state: Map<string, 'open' | 'done'>,
): readonly string[] | null {
  if (state.has(start)) return null;
  const path: { id: string; next: number }[] = [{ id: start, next: 0 }];
  state.set(start, 'open');
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const targets = edges.get(top.id) ?? [];
    const target = targets[top.next];
    if (target === undefined) {
      state.set(top.id, 'done');
      path.pop();
      continue;
    }
    top.next += 1;
    const seen = state.get(target);
    if (seen === 'open') {
      const from = path.findIndex((step) => step.id === target);
      return [...path.slice(from).map((step) => step.id), target];
    }
    if (seen === undefined) {
      state.set(target, 'open');
      path.push({ id: target, next: 0 });
    }
  }
  return null;
}
