import { ApiProperty } from '@nestjs/swagger';
import type { NodeView } from '../model/process-instances.types.js';

/** The node that something is about. */
export class InstanceNodeDto implements NodeView {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Node that it is about, the same number for the same node in later builds; null for none.',
    example: 1002,
  })
  nodeId: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of that node.',
    example: 'Complete application',
  })
  nodeName: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Id of the element in the BPMN file.',
    example: 'complete_application',
  })
  bpmnElementId: string | null;
}
