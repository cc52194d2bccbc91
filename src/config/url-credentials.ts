/** What stands before the `@` of an address; absent ones are left out. */
export interface UrlCredentials {
  username?: string;
  password?: string;
}

/** `user:password`, decoded; null where the percent-encoding is broken. */
export function urlCredentials(text: string): UrlCredentials | null {
  try {
    const [username = '', ...password] = text.split(':').map(decodeURIComponent);
    return {
      ...(username === '' ? {} : { username }),
      ...(password.length === 0 ? {} : { password: password.join(':') }),
    };
  } catch {
    return null;
  }
}
