/** User and password of an address; absent parts are omitted. */
export interface UrlCredentials {
  username?: string;
  password?: string;
}

/** Decodes percent-encoded text; returns null if the encoding is invalid. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Parses percent-encoded `user:password`; returns null if the encoding is invalid. */
export function urlCredentials(text: string): UrlCredentials | null {
  const [username, ...password] = text.split(':').map(decoded);
  return [username, ...password].includes(null)
    ? null
    : {
        ...(username ? { username } : {}),
        ...(password.length === 0 ? {} : { password: password.join(':') }),
      };
}
