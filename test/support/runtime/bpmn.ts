/** A process as a test writes it. */
export interface BpmnProcess {
  /** Id of the process; its name in paths unless `name` says otherwise. */
  id?: string;
  name?: string;
  /** Elements of the process: `bpmn:` is BPMN, `svc:` the extension namespace. */
  elements: string;
}

/** A BPMN file with one process. */
export function bpmnFile({ id = 'hello', name = id, elements }: BpmnProcess): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:svc="urn:svc:bpmn:1"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="file_${id}" targetNamespace="test">
  <bpmn:process id="${id}" name="${name}" isExecutable="true">
${elements}
  </bpmn:process>
</bpmn:definitions>
`;
}

/** Nodes in a row, each with its flow to the next one. */
export function sequence(...nodes: { tag: string; id: string; content?: string }[]): string {
  const written = nodes.map(
    ({ tag, id, content = '' }) => `    <bpmn:${tag} id="${id}">${content}</bpmn:${tag}>`,
  );
  const flows = nodes
    .slice(1)
    .map(
      ({ id }, index) =>
        `    <bpmn:sequenceFlow id="to_${id}" sourceRef="${nodes[index]?.id}" targetRef="${id}" />`,
    );
  return [...written, ...flows].join('\n');
}

/** Start, user task, end: the token waits at the task. */
export function userTaskProcess(id = 'hello', task = 'approve'): string {
  return bpmnFile({
    id,
    elements: sequence(
      { tag: 'startEvent', id: 'start' },
      { tag: 'userTask', id: task },
      { tag: 'endEvent', id: 'end' },
    ),
  });
}
