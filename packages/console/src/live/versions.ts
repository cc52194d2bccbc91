/** Thrown when a response had no ETag, so a change could not be made conditional. */
export class MissingEtagError extends Error {
  override readonly name = 'MissingEtagError';
}

/** Returns the ETag of a response, or null. */
export function etagOf(response: Response): string | null {
  return response.headers.get('etag');
}

/**
 * Returns the header that makes a change conditional.
 * @throws MissingEtagError without an ETag: an unconditional change could overwrite those of others
 */
export function ifMatch(etag: string | null): { 'If-Match': string } {
  if (etag === null) {
    throw new MissingEtagError();
  }
  return { 'If-Match': etag };
}
