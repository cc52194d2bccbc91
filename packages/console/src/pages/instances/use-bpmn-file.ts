import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

/** The BPMN file of the process of an instance. An instance keeps its process, so the file is asked for once. */
export function useBpmnFile(uuid: string): Answer<string> {
  return useAnswer(
    async (signal) => (await api().getProcessInstanceDiagram({ path: { uuid }, signal })).data.bpmn,
    [uuid],
  );
}
