import type { Response } from 'express';

/** The response header `Location` of what was made or begun (RFC 9110, section 10.2.2), for the OpenAPI document. */
export const LOCATION_HEADER = {
  Location: {
    description: 'Path by which it is read.',
    required: true,
    schema: { type: 'string', pattern: '^/' },
  },
} as const;

/**
 * Says where what was made or begun is read.
 * @param parts of the path; names of the caller's making are encoded
 */
export function locate(response: Response, ...parts: readonly string[]): void {
  response.setHeader('Location', `/${parts.map(encodeURIComponent).join('/')}`);
}
