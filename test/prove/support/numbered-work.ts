/**
 * Does `work` for 0 … count-1, at most `concurrency` at a time.
 * @returns the results in the order of the numbers
 * @throws the first error, once the work under way has ended
 */
export async function doNumbered<T>(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await work(index);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(concurrency, count) }, worker));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) {
    throw failure.reason;
  }
  return results;
}
