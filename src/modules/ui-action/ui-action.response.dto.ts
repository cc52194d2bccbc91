import { ApiProperty } from '@nestjs/swagger';
import { Shows } from '../../common/answer-fields.decorators.js';
import type { UiActionAnswer } from '../process-runtime/model/process-runtime.types.js';

/** What a UI action answers (docs/contract.md, section 4.2). */
export class UiActionResponseDto implements UiActionAnswer {
  @Shows.uuid(
    'The token of the path; after a back action the new one in its place.',
    '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  )
  tokenUuid: string;

  @Shows.number('Node that the token stands on now.', 1003)
  currentNodeId: number;

  @ApiProperty({ type: 'null', nullable: true, description: 'Reserved; always null.', example: null })
  templatesSequence: null;

  @Shows.value('Whether the token went back to an earlier node.', false)
  backAction: boolean;

  @Shows.value('Whether there is a new token: use `tokenUuid` from now on.', false)
  resetToken: boolean;
}
