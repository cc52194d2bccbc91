import { IsPathId } from '../../platform/validation/patterns.decorators.js';
import { type ApiHeaderOptions } from '@nestjs/swagger';
import { Answer, Shows, shows, Fields } from '../../platform/openapi/answer-fields.decorators.js';
import { ValidationFailedError } from '../../platform/errors/request.errors.js';

export class UiActionParams extends Fields({
  processUuid: IsPathId(
    '`uuid` of the process instance, from its start or `listProcessInstances`.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
  ),
  tokenUuid: IsPathId(
    '`uuid` of an active token, from `getProcessInstance`.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  uiActionSvcUuid: IsPathId(
    '`svcUuid` of one of the `uiActions` of that token.',
    '7c012ba2-d101-55f2-b084-149d62e373ce',
  ),
}) {}

/** Response of a UI action (docs/contract.md, section 4.2). */
export class UiActionResponseDto extends Answer({
  tokenUuid: Shows.uuid(
    'The token in the path; after a back action, the new token that replaces it.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  ),
  currentNodeId: Shows.number('Current node of the token.', 1003),
  templatesSequence: shows<null>({ type: 'null', nullable: true })('Reserved; always null.', null),
  backAction: Shows.flag('Whether the token went back to an earlier node.', false),
  resetToken: Shows.flag('Whether there is a new token: use `tokenUuid` from now on.', false),
}) {}

/** Request header for going back. */
export const BACK_HEADER: ApiHeaderOptions & { name: string } = {
  name: 'svc-back',
  required: false,
  description:
    '`true`: the call takes the token back and never executes an action of the current node. Send it for `uiActions` whose `back` ' +
    'is true; an action with `allowBack="explicit"` requires it.',
  schema: { type: 'string', enum: ['true'] },
};

/** Parses the header `svc-back`. @returns whether the caller only wants to go back @throws ValidationFailedError */
export function readBack(value: string | undefined): boolean {
  if (value !== undefined && value !== 'true') {
    throw new ValidationFailedError([{ field: BACK_HEADER.name, rule: 'must be true or omitted' }]);
  }
  return value !== undefined;
}
