import { ApiProperty } from '@nestjs/swagger';
import type { UiActionAnswer } from '../process-runtime/model/process-runtime.types.js';

/** What a UI action answers (docs/contract.md, section 4.2). */
export class UiActionResponseDto implements UiActionAnswer {
  @ApiProperty({
    format: 'uuid',
    description: 'The token of the path; after a back action the new one in its place.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  })
  tokenUuid: string;

  @ApiProperty({
    type: 'integer',
    description: 'Node that the token stands on now.',
    example: 1003,
  })
  currentNodeId: number;

  @ApiProperty({ type: 'null', nullable: true, description: 'Reserved; always null.', example: null })
  templatesSequence: null;

  @ApiProperty({ description: 'Whether the token went back to an earlier node.', example: false })
  backAction: boolean;

  @ApiProperty({ description: 'Whether there is a new token: use `tokenUuid` from now on.', example: false })
  resetToken: boolean;
}
