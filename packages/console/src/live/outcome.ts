/** Result or error of a call. */
export type Outcome<T> = { data: T } | { error: unknown };

/** Makes a call and returns its outcome. Never throws. */
export async function outcomeOf<T>(call: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { data: await call() };
  } catch (error) {
    return { error };
  }
}
