import { hash } from 'node:crypto';
import { canonicalJson } from '../platform/json/canonical-json.js';
import { ValidationFailedError } from '../platform/errors/request.errors.js';
import type { Principal } from '../platform/user/principal.js';

/** Header that identifies repetitions of one request. */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
const PATTERN = /^[\x21-\x7e]{1,255}$/;

/** The request header `Idempotency-Key`, for the OpenAPI document. */
export const IDEMPOTENCY_KEY = {
  name: IDEMPOTENCY_HEADER,
  required: false,
  description:
    'A value of your choice that identifies this request. Sending the request again with the same key, one after the other or ' +
    'concurrently, takes effect once and returns the same response, byte by byte; a different body gets 409. Kept for a week.',
  schema: { type: 'string', pattern: PATTERN.source },
} as const;

/** Identity of a request with an `Idempotency-Key`. */
export interface RepeatKey {
  keyHash: string;
  bodyHash: string;
}

/**
 * Hashes caller, path and key into the identity of a request, so that none of them is stored.
 * @param key value of the header, if the request has one
 * @returns undefined when the request has no key
 * @throws ValidationFailedError when the key is invalid
 */
export function repeatKey(
  principal: Pick<Principal, 'issuer' | 'subject'>,
  path: readonly string[],
  key: string | undefined,
  body: unknown,
): RepeatKey | undefined {
  if (key === undefined) {
    return undefined;
  }
  if (!PATTERN.test(key)) {
    throw new ValidationFailedError([
      { field: IDEMPOTENCY_HEADER, rule: 'must be 1 to 255 printable ASCII characters without spaces' },
    ]);
  }
  const { issuer, subject } = principal;
  return {
    keyHash: hash('sha256', JSON.stringify([issuer, subject, ...path, key])),
    bodyHash: hash('sha256', canonicalJson(body)),
  };
}
