/**
 * Stores what a tab remembers over a reload; null removes it. Never a token: those are in memory only. Where the browser refuses to
 * store anything, people sign in again.
 * @param isShared also for tabs that are opened later
 */
export function keep(name: string, value: string | null, isShared = false): void {
  try {
    for (const storage of isShared ? [sessionStorage, localStorage] : [sessionStorage]) {
      if (value === null) {
        storage.removeItem(name);
      } else {
        storage.setItem(name, value);
      }
    }
  } catch {
    // See above.
  }
}

/** What {@link keep} has stored: in this tab or, if shared, in another one. */
export function kept(name: string, isShared = false): string | null {
  try {
    return sessionStorage.getItem(name) ?? (isShared ? localStorage.getItem(name) : null);
  } catch {
    return null;
  }
}
