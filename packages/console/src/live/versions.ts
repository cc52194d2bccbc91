/** An answer came without the version of what it tells of, so nobody can say of which state a change would be. */
export class NoVersionError extends Error {
  override readonly name = 'NoVersionError';
}

/** The version of what an answer tells of; null where it came without one. */
export function versionOf(response: Response): string | null {
  return response.headers.get('etag');
}

/**
 * Header of a change that is made only where nothing is other than what was read.
 * @throws NoVersionError without a version: a change that asks nothing could overwrite what others did
 */
export function ifMatch(version: string | null): { 'If-Match': string } {
  if (version === null) {
    throw new NoVersionError();
  }
  return { 'If-Match': version };
}
