import { ApiProperty } from '@nestjs/swagger';
import type { TokenStatus } from '../engine/state/engine.types.js';
import type { DiagramView, PositionView } from '../model/process-instances.types.js';
import { TOKEN_STATES } from '../model/token.dto.js';

/** Where a token stands in the diagram. */
export class PositionDto implements PositionView {
  @ApiProperty({ type: 'integer', description: 'Node that it stands on.', example: 1002 })
  nodeId: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id of the element in the BPMN file.',
    example: 'complete_application',
  })
  bpmnElementId: string | null;

  @ApiProperty({
    format: 'uuid',
    description: 'The token.',
    example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
  })
  tokenUuid: string;

  @ApiProperty({
    enum: TOKEN_STATES,
    enumName: 'TokenState',
    description: 'ON_HOLD: its branches are running.',
    example: 'ACTIVE',
  })
  state: TokenStatus;
}

/** The diagram of an instance. */
export class InstanceDiagramDto implements DiagramView {
  @ApiProperty({ description: 'The BPMN 2.0 file that the process comes from, unchanged.' })
  bpmn: string;

  @ApiProperty({ type: () => [PositionDto], description: 'Where its tokens stand that have not ended.' })
  positions: PositionDto[];
}
