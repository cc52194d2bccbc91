import { Shows } from '../../../common/answer-fields.decorators.js';
import type { TokenStatus } from '../engine/state/engine.types.js';
import { ShowsTokenState } from '../model/token.dto.js';

/** Where a token stands in the diagram. */
export class PositionDto {
  @Shows.number('Node that it stands on.', 1002)
  nodeId: number;

  @Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application')
  bpmnElementId: string | null;

  @Shows.uuid('The token.', '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20')
  tokenUuid: string;

  @ShowsTokenState('ON_HOLD: its branches are running.', 'ACTIVE')
  state: TokenStatus;
}

/** The diagram of an instance. */
export class InstanceDiagramDto {
  @Shows.value('The BPMN 2.0 file that the process comes from, unchanged.')
  bpmn: string;

  @Shows.list(() => PositionDto, 'Where its tokens stand that have not ended.')
  positions: PositionDto[];
}
