import { hash } from 'node:crypto';
import { canonicalJson } from '../../../common/canonical-json.js';
import { asReplay } from '../../../common/replays.js';
import type { Principal } from '../../../common/user/principal.js';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { ProcessStateError } from '../model/process-runtime.errors.js';
import type { StoredAnswer } from '../storage/repeats.repository.js';

/** Header by which a caller says that two calls are the same one. */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';
export const IDEMPOTENCY_PATTERN = /^[\x21-\x7e]{1,255}$/;

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
  if (!IDEMPOTENCY_PATTERN.test(key)) {
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

/**
 * The answer stored for a call, for one that repeats it.
 * @throws ProcessStateError when the stored call had another body
 */
export function repeatedAnswer(stored: StoredAnswer, { bodyHash }: RepeatKey): unknown {
  if (stored.bodyHash !== bodyHash) {
    throw new ProcessStateError(
      'IDEMPOTENCY_KEY_REUSED',
      'The Idempotency-Key was used for a request with another body.',
    );
  }
  // Written again it is the text that was stored: JavaScript keeps the order of names.
  return asReplay(JSON.parse(stored.response) as object);
}
