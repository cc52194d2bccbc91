/** Drawings for the check of the modeler kit: one without lanes and one with a lane. */
const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" xmlns:svc="urn:svc:bpmn:1" id="drawing" targetNamespace="test">`;

/** Ids of the templates applied to the first drawing, by element id. */
export const APPLIED = {
  whole: 'svc.process',
  start: 'svc.start',
  ask: 'svc.user-task',
  work: 'svc.workflow-task',
  set: 'svc.data-task',
  sub: 'svc.call',
  wait: 'svc.receive-task',
  failed: 'svc.error-boundary',
};

/** Properties that an author fills in, by element id. */
export const FILLED = {
  whole: { 'svc:processName': 'whole' },
  start: { 'svc:start': 'workflow-test' },
  sub: { calledElement: 'inner', 'svc:outputKey': 'inner' },
  wait: { 'svc:correlation': 'order.id' },
};

/** Returns a node with its lists of flows, as modelers write them. */
const node = (tag: string, id: string, { attributes = '', inner = '' } = {}): string => {
  const of = (list: string, at: 0 | 1): string =>
    FLOWS.filter((ends) => ends[at] === id)
      .map((ends) => `<bpmn:${list}>${ends.join('_')}</bpmn:${list}>`)
      .join('');
  return `<bpmn:${tag} id="${id}" ${attributes}>${of('incoming', 1)}${of('outgoing', 0)}${inner}</bpmn:${tag}>`;
};
const ROW = ['start', 'ask', 'work', 'set', 'sub', 'wait', 'end'];
const flow = (from: string, to: string): string =>
  `<bpmn:sequenceFlow id="${from}_${to}" sourceRef="${from}" targetRef="${to}" />`;
const shape = (id: string, index: number, y = 80): string =>
  `<bpmndi:BPMNShape id="${id}_di" bpmnElement="${id}"><dc:Bounds x="${150 * index}" y="${y}" width="100" height="80" /></bpmndi:BPMNShape>`;
const edge = (from: string, to: string, index: number): string =>
  `<bpmndi:BPMNEdge id="${from}_${to}_di" bpmnElement="${from}_${to}"><di:waypoint x="${150 * index + 100}" y="120" /><di:waypoint x="${150 * index + 150}" y="120" /></bpmndi:BPMNEdge>`;
const pairs = ROW.slice(1).map((to, index) => [ROW[index] ?? '', to, index] as const);
const FLOWS = [...pairs.map(([from, to]) => [from, to]), ['failed', 'ended']];

/** The first drawing, plain BPMN without extensions of the service. */
export const DRAWING = `${HEAD}
<bpmn:message id="signed" name="signed" />
<bpmn:process id="whole" isExecutable="true">
${node('startEvent', 'start')}
${['ask', 'work', 'set', 'sub'].map((id) => node('task', id)).join('\n')}
${node('receiveTask', 'wait', { attributes: 'messageRef="signed"' })}
${node('endEvent', 'end')}${node('endEvent', 'ended')}
${node('boundaryEvent', 'failed', { attributes: 'attachedToRef="sub"', inner: '<bpmn:errorEventDefinition />' })}
${pairs.map(([from, to]) => flow(from, to)).join('\n')}
${flow('failed', 'ended')}
</bpmn:process>
<bpmndi:BPMNDiagram id="diagram"><bpmndi:BPMNPlane id="plane" bpmnElement="whole">
${ROW.map((id, index) => shape(id, index)).join('\n')}
${shape('ended', 4, 300)}
<bpmndi:BPMNShape id="failed_di" bpmnElement="failed"><dc:Bounds x="632" y="142" width="36" height="36" /></bpmndi:BPMNShape>
${pairs.map(([from, to, index]) => edge(from, to, index)).join('\n')}
<bpmndi:BPMNEdge id="failed_ended_di" bpmnElement="failed_ended"><di:waypoint x="650" y="178" /><di:waypoint x="650" y="300" /></bpmndi:BPMNEdge>
</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</bpmn:definitions>`;

/** The second drawing: the process that the first one calls, with a lane. */
export const WITH_LANE = `${HEAD}
<bpmn:collaboration id="both"><bpmn:participant id="pool" processRef="inner" /></bpmn:collaboration>
<bpmn:process id="inner" isExecutable="true">
<bpmn:laneSet id="lanes"><bpmn:lane id="clerks"><bpmn:flowNodeRef>begin</bpmn:flowNodeRef><bpmn:flowNodeRef>finish</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>
<bpmn:startEvent id="begin" /><bpmn:endEvent id="finish" />
${flow('begin', 'finish')}
</bpmn:process>
<bpmndi:BPMNDiagram id="diagram"><bpmndi:BPMNPlane id="plane" bpmnElement="both">
<bpmndi:BPMNShape id="pool_di" bpmnElement="pool" isHorizontal="true"><dc:Bounds x="0" y="0" width="600" height="200" /></bpmndi:BPMNShape>
<bpmndi:BPMNShape id="clerks_di" bpmnElement="clerks" isHorizontal="true"><dc:Bounds x="30" y="0" width="570" height="200" /></bpmndi:BPMNShape>
${shape('begin', 1)}${shape('finish', 2)}${edge('begin', 'finish', 1)}
</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</bpmn:definitions>`;

/** The workflow that the workflow task starts. */
export const WORKFLOW = {
  name: 'WORKFLOW',
  inputSchema: null,
  outputSchema: null,
  nodes: [
    {
      id: 'start',
      type: 'START',
      name: 'Start',
      outgoingSequences: [{ id: 'only', sourceNodeId: 'start', targetNodeId: 'end' }],
    },
    { id: 'end', type: 'END', name: 'End' },
  ],
};
