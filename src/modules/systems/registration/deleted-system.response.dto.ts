import { ApiProperty } from '@nestjs/swagger';
import type { SystemEntity } from '../storage/system.entity.js';

/** Answer of the delete operation. */
export class DeletedSystemResponseDto {
  @ApiProperty({ type: 'integer', description: 'The HTTP status again.', example: 200 })
  status: number;

  @ApiProperty({ description: 'What happened.', example: 'System deleted.' })
  message: string;

  @ApiProperty({ format: 'uuid', description: 'Resource id of the system that was deleted.' })
  resourceId: string;
}

export function toDeletedSystemResponse({ resourceId }: SystemEntity): DeletedSystemResponseDto {
  return { status: 200, message: 'System deleted.', resourceId };
}
