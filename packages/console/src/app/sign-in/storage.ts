/**
 * Stores a value that survives a reload; null removes it. Never a token. If the browser refuses, users just sign in again.
 * @param isShared also for tabs opened later
 */
export function saveItem(name: string, value: string | null, isShared = false): void {
  try {
    for (const storage of isShared ? [sessionStorage, localStorage] : [sessionStorage]) {
      if (value === null) {
        storage.removeItem(name);
      } else {
        storage.setItem(name, value);
      }
    }
  } catch {
    // Storage is optional, see above.
  }
}

/** Returns the value stored by {@link saveItem} in this tab or, if shared, in another one. */
export function loadItem(name: string, isShared = false): string | null {
  try {
    return sessionStorage.getItem(name) ?? (isShared ? localStorage.getItem(name) : null);
  } catch {
    return null;
  }
}
