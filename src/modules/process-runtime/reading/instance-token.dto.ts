import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject } from '../../../common/json.js';
import type { InstanceTokenView, UiActionView } from '../model/process-instances.types.js';
import { TokenDto } from '../model/token.dto.js';

/** A UI action that the caller can execute now. */
export class OpenUiActionDto implements UiActionView {
  @ApiProperty({
    description: 'Names the UI action in the path of endpoint 8.',
    example: '7c012ba2-d101-55f2-b084-149d62e373ce',
  })
  svcUuid: string;

  @ApiProperty({ description: 'Name of the UI action.', example: 'Submit' })
  name: string;

  @ApiProperty({ description: 'Whether it takes the token back to an earlier node.', example: false })
  back: boolean;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'JSON Schema (2020-12) of the body; null for any object.',
    example: null,
  })
  bodySchema: JsonObject | null;
}

/** A token of an instance. */
export class InstanceTokenDto extends TokenDto implements InstanceTokenView {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id of the element in the BPMN file where it stands.',
    example: 'complete_application',
  })
  bpmnElementId: string | null;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Token that was split or waits at the subprocess it runs in; null for none.',
    example: null,
  })
  parentTokenUuid: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Lane of the node; null outside of lanes.',
    example: 'Clerk',
  })
  lane: string | null;

  @ApiProperty({
    type: () => [OpenUiActionDto],
    description:
      'What the caller can execute on it now: of its own node, then what leads back. Empty unless it is ACTIVE; actions in lanes ' +
      'whose permissions the caller lacks are left out.',
  })
  uiActions: OpenUiActionDto[];
}
