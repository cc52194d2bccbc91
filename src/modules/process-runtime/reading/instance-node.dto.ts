import { Shows } from '../../../common/answer-fields.decorators.js';

/** The node that something is about. */
export class InstanceNodeDto {
  @Shows.numberOrNull(
    'Node that it is about, the same number for the same node in later builds; null for none.',
    1002,
  )
  nodeId: number | null;

  @Shows.textOrNull('Name of that node.', 'Complete application')
  nodeName: string | null;

  @Shows.textOrNull('Id of the element in the BPMN file.', 'complete_application')
  bpmnElementId: string | null;
}
