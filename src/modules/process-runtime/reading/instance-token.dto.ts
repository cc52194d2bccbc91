import { Shows } from '../../../common/answer-fields.decorators.js';
import type { JsonObject } from '../../../common/json.js';
import { TokenDto } from '../model/token.dto.js';
import { BODY_SCHEMA_EXAMPLE } from './instance.examples.js';

/** A UI action that the caller can execute now. */
export class OpenUiActionDto {
  @Shows.value(
    'Names the UI action in the path of `executeUiAction`.',
    '7c012ba2-d101-55f2-b084-149d62e373ce',
  )
  svcUuid: string;

  @Shows.value('Name of the UI action.', 'submit_application')
  name: string;

  @Shows.value('Whether it takes the token back to an earlier node.', false)
  back: boolean;

  @Shows.objectOrNull('JSON Schema (2020-12) of the body; null for any object.', BODY_SCHEMA_EXAMPLE)
  bodySchema: JsonObject | null;
}

/** A token of an instance. */
export class InstanceTokenDto extends TokenDto {
  @Shows.textOrNull('Id of the element in the BPMN file where it stands.', 'complete_application')
  bpmnElementId: string | null;

  @Shows.uuidOrNull('Token that was split or waits at the subprocess it runs in; null for none.', null)
  parentTokenUuid: string | null;

  @Shows.textOrNull('Lane of the node; null outside of lanes.', 'Clerk')
  lane: string | null;

  @Shows.list(
    () => OpenUiActionDto,
    'What the caller can execute on it now: of its own node, then what leads back. Empty unless it is ACTIVE; actions in lanes ' +
      'whose permissions the caller lacks are left out.',
  )
  uiActions: OpenUiActionDto[];
}
