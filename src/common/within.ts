/**
 * Waits for work, but no longer than `ms` milliseconds. The work itself goes on; whatever comes of it later is dropped.
 * @param late gives the result in place of the work, or throws
 */
export function within<Result>(
  ms: number,
  work: Promise<Result>,
  late: () => Result | Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      new Promise<Result>((end) => {
        end(late());
      }).then(resolve, reject);
    }, ms);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
        return undefined;
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
