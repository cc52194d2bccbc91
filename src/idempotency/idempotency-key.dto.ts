import { hash } from 'node:crypto';
import { canonicalJson } from '../platform/json/canonical-json.js';
import { ValidationFailedError } from '../platform/errors/request.errors.js';
import type { Principal } from '../platform/user/principal.js';

/** Header by which a caller says that two calls are the same one. */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
const PATTERN = /^[\x21-\x7e]{1,255}$/;

/** The request header `Idempotency-Key`, for the OpenAPI document. */
export const IDEMPOTENCY_KEY = {
  name: IDEMPOTENCY_HEADER,
  required: false,
  description:
    'A value of your choice that names this call. The same call sent again with it, after a lost answer or at the same time, takes ' +
    'effect once and gets the same answer, byte by byte; with another body it is 409. Kept for a week.',
  schema: { type: 'string', pattern: PATTERN.source },
} as const;

/** A call that may be repeated. */
export interface RepeatKey {
  keyHash: string;
  bodyHash: string;
}

/**
 * Names a call by caller, path and key, as hashes: none of them is stored.
 * @param key value of the header; undefined without
 * @returns undefined when the caller does not ask for it
 * @throws ValidationFailedError when the key is none
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
