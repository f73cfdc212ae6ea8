/** Applies `work` to every item, at most `limit` at a time; the first failure is thrown when all that started have ended. */
export async function concurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let failed = false;
  const worker = async () => {
    for (const [position, item] of queue) {
      if (failed) return;
      try {
        results[position] = await work(item);
      } catch (cause) {
        failed = true;
        throw cause;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}

/** Enough to keep a disk's queue filled; file calls run on a handful of threads anyway. */
export const FILE_CONCURRENCY = 16;
