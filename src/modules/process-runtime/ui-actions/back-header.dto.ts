import type { ApiHeaderOptions } from '@nestjs/swagger';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';

/** The request header by which a caller says that going back is meant. */
export const BACK_HEADER: ApiHeaderOptions & { name: string } = {
  name: 'svc-back',
  required: false,
  description:
    '`true`: the call takes the token back and never executes the action where the token stands. Send it for `uiActions` whose `back` ' +
    'is true; an action with `allowBack="explicit"` requires it.',
  schema: { type: 'string', enum: ['true'] },
};

/**
 * Whether a caller wants to go back and nothing else.
 * @throws ValidationFailedError
 */
export function readBack(value: string | undefined): boolean {
  if (value !== undefined && value !== 'true') {
    throw new ValidationFailedError([{ field: BACK_HEADER.name, rule: 'must be true, or left out' }]);
  }
  return value !== undefined;
}
