/** Id of the process that all peers run. */
export const PEER_PROCESS = 'review';

const EXTRAS = {
  camunda: 'xmlns:camunda="http://camunda.org/schema/1.0/bpmn"',
  zeebe: 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"',
};

/** Returns the process that the service also runs (start, one user task, end), in the dialect of a peer. */
export function reviewFor(peer: keyof typeof EXTRAS): string {
  const attribute = peer === 'camunda' ? 'camunda:historyTimeToLive="P30D"' : '';
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" ${EXTRAS[peer]} id="definitions" targetNamespace="urn:bench">
<bpmn:process id="${PEER_PROCESS}" isExecutable="true" ${attribute}>
<bpmn:startEvent id="start"/>
<bpmn:userTask id="task0"/>
<bpmn:endEvent id="end"/>
<bpmn:sequenceFlow id="a" sourceRef="start" targetRef="task0"/>
<bpmn:sequenceFlow id="b" sourceRef="task0" targetRef="end"/>
</bpmn:process>
</bpmn:definitions>`;
}
