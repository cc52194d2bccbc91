/**
 * Works on items, at most `limit` at a time, in their order: the next one begins as soon as one ends. The first failure
 * ends the waiting, and nothing more is begun.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  let failed = false;
  const seat = async (): Promise<void> => {
    for (const [index, item] of queue) {
      results[index] = await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
      if (failed) {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, seat));
  return results;
}
