/**
 * Waits for work, but no longer than `ms` milliseconds. The work itself goes on; whatever comes of it later is dropped.
 * @param late gives the result in place of the work, or throws
 */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
  late: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, limit.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
