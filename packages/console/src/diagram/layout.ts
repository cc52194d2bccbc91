import { layoutProcess } from 'bpmn-auto-layout';
import { DiagramError } from './diagram-error.js';
import { BPMN, BPMN_DI, flowNodesOf } from './process-element.js';

/** Layout time grows quadratically; up to this number of elements it takes less than a second. */
const MOST_NODES = 500;

/**
 * Lays out a process whose file has no diagram of it. Omits other processes, lanes, annotations and message flows, and collapses
 * sub-processes.
 * @returns the file with a diagram
 * @throws DiagramError
 */
export async function layOut(file: Document, process: Element): Promise<string> {
  const nodes = flowNodesOf(process);
  if (nodes.length > MOST_NODES) {
    throw new DiagramError({ kind: 'large', nodes: nodes.length, most: MOST_NODES });
  }
  keepOnly(file, process);
  nameFlows(process, nodes);
  try {
    return await layoutProcess(new XMLSerializer().serializeToString(file));
  } catch (error) {
    throw new DiagramError({ kind: 'tangled' }, { cause: error });
  }
}

/** Removes all other processes, because the library draws only the first one. */
function keepOnly(file: Document, process: Element): void {
  const others = [
    ...file.getElementsByTagNameNS(BPMN, 'process'),
    ...file.getElementsByTagNameNS(BPMN, 'collaboration'),
    ...file.getElementsByTagNameNS(BPMN_DI, 'BPMNDiagram'),
  ];
  others.filter((element) => element !== process).forEach((element) => element.remove());
}

/** Adds the `incoming` and `outgoing` elements that files may omit, because the library follows only those. */
function nameFlows(process: Element, nodes: readonly Element[]): void {
  const byId = new Map(nodes.map((node) => [node.getAttribute('id'), node]));
  for (const flow of process.getElementsByTagNameNS(BPMN, 'sequenceFlow')) {
    const id = flow.getAttribute('id') ?? '';
    for (const [end, attribute] of [
      ['outgoing', 'sourceRef'],
      ['incoming', 'targetRef'],
    ] as const) {
      const node = byId.get(flow.getAttribute(attribute));
      const isNamed = [...(node?.children ?? [])].some(
        ({ localName, textContent }) => localName === end && textContent?.trim() === id,
      );
      if (node !== undefined && !isNamed) {
        const name = node.prefix === null ? end : `${node.prefix}:${end}`;
        node.append(Object.assign(node.ownerDocument.createElementNS(BPMN, name), { textContent: id }));
      }
    }
  }
}
