/** What stands before the `@` of an address; absent ones are left out. */
export interface UrlCredentials {
  username?: string;
  password?: string;
}

/** A percent-encoded text; null where the encoding is broken. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** `user:password`, decoded; null where the percent-encoding is broken. */
export function urlCredentials(text: string): UrlCredentials | null {
  const [username, ...password] = text.split(':').map(decoded);
  return [username, ...password].includes(null)
    ? null
    : {
        ...(username ? { username } : {}),
        ...(password.length === 0 ? {} : { password: password.join(':') }),
      };
}
