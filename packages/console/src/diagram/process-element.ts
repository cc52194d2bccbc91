/** The namespace of BPMN 2.0 elements. */
export const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
/** The namespace of BPMN 2.0 diagrams. */
export const BPMN_DI = 'http://www.omg.org/spec/BPMN/20100524/DI';

const FLOW_NODE = /(event|task|gateway|activity|process|transaction)$/i;

/** Finds a process by the name that callers use (docs/bpmn.md). A file's only process matches any name. */
export function processOf(file: Document, name: string): Element | undefined {
  const processes = [...file.getElementsByTagNameNS(BPMN, 'process')];
  const named = processes.find((process) => nameOf(process) === name);
  return named ?? (processes.length === 1 ? processes[0] : undefined);
}

function nameOf(process: Element): string | undefined {
  const attributes = [...process.attributes];
  return ['processName', 'name', 'id'].flatMap((known) =>
    attributes.filter(({ localName }) => localName === known).map(({ value }) => value),
  )[0];
}

/** Lists events, activities and gateways of a process and its sub-processes. */
export function flowNodesOf(process: Element): Element[] {
  return [...process.getElementsByTagNameNS(BPMN, '*')].filter(({ localName }) => FLOW_NODE.test(localName));
}

/** Whether a file has a diagram of a process, that is, a shape for at least one of its flow nodes. */
export function isDrawn(file: Document, process: Element): boolean {
  const ids = new Set(flowNodesOf(process).map((node) => node.getAttribute('id')));
  return [...file.getElementsByTagNameNS(BPMN_DI, 'BPMNShape')].some((shape) =>
    ids.has(shape.getAttribute('bpmnElement')),
  );
}
