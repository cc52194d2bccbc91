import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import type { IfMatch } from './workflow-nodes.types.js';

/** The request header `If-Match` (RFC 9110, section 13.1.1). */
export const IF_MATCH = {
  name: 'If-Match',
  required: true,
  description:
    'The `ETag` of what was read, so that nobody overwrites what somebody else did meanwhile; `*` for whatever is there.',
  schema: {
    type: 'string',
    maxLength: 1_024,
    // One tag, or several: all that a client has a reason to send.
    pattern: '^(\\*|(W/)?"[!#-~]*"(, (W/)?"[!#-~]*")*)$',
    example: '*',
  },
} as const;

/** The response header `ETag` (RFC 9110, section 8.8.3). */
export const ETAG_HEADER = {
  ETag: {
    description: 'Tells this state of the node from all others: the `If-Match` of a change.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
  },
} as const;

/** Entity tags in a list, as RFC 9110 writes them (sections 5.6.1 and 8.8.3): empty elements are allowed. */
const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const TAG_LIST = new RegExp(String.raw`^[\s,]*${TAG}(?:\s*,(?:\s*${TAG})?)*\s*$`);
const EACH_OPAQUE_TAG = /"[^"]*"/g;

/**
 * Reads `If-Match` (RFC 9110, section 13.1.1), tags without `W/`. The service gives strong tags only. A proxy that compresses
 * an answer weakens its tag on the way to the caller (section 8.8.1), who can send back nothing else. A strong comparison would
 * lock out all callers behind such a proxy, and protect nobody.
 * @throws ValidationFailedError without the header, and when it is neither `*` nor a list of entity tags
 */
export function requiredIfMatch(value = ''): IfMatch {
  const text = value.trim();
  if (text === '') {
    throw new ValidationFailedError([{ field: 'If-Match', rule: 'is required' }]);
  }
  if (text === '*') {
    return text;
  }
  if (!TAG_LIST.test(text)) {
    throw new ValidationFailedError([
      { field: 'If-Match', rule: 'must be * or entity tags with their quotes, as ETag has them' },
    ]);
  }
  return text.match(EACH_OPAQUE_TAG) ?? [];
}
