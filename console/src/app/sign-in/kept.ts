/**
 * What a tab remembers over a reload. Never a token: those are in memory only. A browser may refuse to keep anything; then a person
 * signs in anew.
 */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null) {
      sessionStorage.removeItem(name);
    } else {
      sessionStorage.setItem(name, value);
    }
  } catch {
    // See above.
  }
}

/** What {@link keep} has kept. */
export function kept(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}
