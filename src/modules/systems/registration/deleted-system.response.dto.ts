import { Shows } from '../../../common/answer-fields.decorators.js';
import type { SystemEntity } from '../storage/system.entity.js';

/** Answer of the delete operation. */
export class DeletedSystemResponseDto {
  @Shows.number('The HTTP status again.', 200)
  status: number;

  @Shows.value('What happened.', 'System deleted.')
  message: string;

  @Shows.uuid('Resource id of the system that was deleted.')
  resourceId: string;
}

export function toDeletedSystemResponse({ resourceId }: SystemEntity): DeletedSystemResponseDto {
  return { status: 200, message: 'System deleted.', resourceId };
}
