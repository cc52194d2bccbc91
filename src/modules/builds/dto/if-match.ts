import { ApiHeader } from '@nestjs/swagger';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';

/** Documents the header `If-Match` of a route (RFC 9110, section 13.1.1). */
export const ApiIfMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-Match',
    required: true,
    description:
      'The `ETag` of what was read, so that nobody overwrites what somebody else did meanwhile; `*` for whatever is there.',
    schema: { type: 'string', minLength: 1, maxLength: 1_024, example: '*' },
  });

/** Documents the header `ETag` of an answer (RFC 9110, section 8.8.3). */
export const ETAG_HEADER = {
  ETag: {
    description: 'Tells this state of the node from all others: the `If-Match` of a change.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
  },
} as const;

/** @throws ValidationFailedError without the header */
export function requiredIfMatch(value: string | undefined): string {
  if (value === undefined || value.trim() === '') {
    throw new ValidationFailedError([{ field: 'If-Match', rule: 'is required' }]);
  }
  return value;
}
