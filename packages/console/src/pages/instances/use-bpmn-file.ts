import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';

/** Loads the BPMN file of an instance once, because it never changes. */
export function useBpmnFile(uuid: string): Answer<string> {
  return useAnswer(
    async (signal) => (await api().getProcessInstanceDiagram({ path: { uuid }, signal })).data.bpmn,
    [uuid],
  );
}
