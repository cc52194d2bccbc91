import { definitionLimits } from '../definition.limits.js';
import { nameOf, type DefinitionProblems } from '../model/definition-problems.js';
import { childOf, childrenOf, idOf, isA, kindOf, type BpmnElement } from '../model/bpmn-element.js';
import { NODE_KINDS, type DraftFlow, type DraftNode, type ProcessDraft } from '../draft/draft.js';

/** Maximum average number of flows per node; real processes have fewer. */
const FLOWS_PER_NODE = 5;
const MAX_KEY = 255;

/** Finds the nodes and flows of one process and connects them. */
export class DraftBuilder {
  private readonly nodes = new Map<BpmnElement, DraftNode>();
  private readonly flows: DraftFlow[] = [];
  private readonly loose = new Set<BpmnElement>();
  private readonly flowElements: { element: BpmnElement; scope: DraftNode | null }[] = [];
  private deepest = 0;

  constructor(
    private readonly process: BpmnElement,
    private readonly problems: DefinitionProblems,
  ) {}

  /** Returns undefined if the process exceeds the size limits. */
  build(): ProcessDraft | undefined {
    this.collect(this.process, null, 1);
    if (!this.isWithinLimits()) {
      return undefined;
    }
    this.flowElements.forEach(({ element, scope }) => this.connect(element, scope));
    this.nodes.forEach((node) => this.attach(node));
    this.nodes.forEach((node) => this.orderOutgoing(node));
    const nodes = [...this.nodes.values()];
    number(nodes);
    number(this.flows);
    return {
      element: this.process,
      key: idOf(this.process) ?? '',
      nodes,
      flows: this.flows,
      loose: this.loose,
    };
  }

  private collect(container: BpmnElement, scope: DraftNode | null, level: number): void {
    this.deepest = Math.max(this.deepest, level);
    if (level > definitionLimits.nesting) {
      return;
    }
    for (const element of childrenOf(container, 'flowElements')) {
      if (isA(element, 'bpmn:SequenceFlow')) {
        this.flowElements.push({ element, scope });
      } else if (isA(element, 'bpmn:FlowNode')) {
        this.collectNode(element, scope, level);
      }
    }
  }

  private collectNode(element: BpmnElement, scope: DraftNode | null, level: number): void {
    const kind = NODE_KINDS[kindOf(element)];
    const key = this.keyOf(element);
    // Event subprocesses have already been rejected; their start events follow other rules.
    if (kind === undefined || key === undefined || element.triggeredByEvent === true) {
      return;
    }
    const node: DraftNode = {
      element,
      key,
      kind,
      scope,
      position: this.nodes.size,
      index: -1,
      event: null,
      lane: null,
      incoming: [],
      outgoing: [],
      boundaries: [],
      attachedTo: null,
    };
    this.nodes.set(element, node);
    if (kind === 'SUB_PROCESS') {
      this.collect(element, node, level + 1);
    }
  }

  /** Requires an id, which BPMN 2.0.2, 8.4.1, leaves optional: executed elements are identified by it. */
  private keyOf(element: BpmnElement): string | undefined {
    const id = idOf(element);
    if (id === null || id === '' || id.length > MAX_KEY) {
      const message = `Each ${kindOf(element)} needs an id of 1 to ${MAX_KEY} characters.`;
      this.problems.error('MISSING_ID', element, message);
      return undefined;
    }
    return id;
  }

  private isWithinLimits(): boolean {
    const { nodes: maxNodes, nesting: maxNesting } = definitionLimits;
    if (this.nodes.size > maxNodes || this.flowElements.length > maxNodes * FLOWS_PER_NODE) {
      const message = `A process can have at most ${maxNodes} nodes and ${maxNodes * FLOWS_PER_NODE} sequence flows.`;
      this.problems.error('PROCESS_TOO_LARGE', this.process, message);
      return false;
    }
    if (this.deepest > maxNesting) {
      const message = `Subprocesses can be nested at most ${maxNesting} levels deep.`;
      this.problems.error('PROCESS_TOO_DEEP', this.process, message);
      return false;
    }
    return true;
  }

  private connect(element: BpmnElement, scope: DraftNode | null): void {
    const key = this.keyOf(element);
    const source = this.endOf(element, 'sourceRef');
    const target = this.endOf(element, 'targetRef');
    if (key === undefined || source === undefined || target === undefined) {
      this.loose.add(element);
      return;
    }
    if (source.scope !== target.scope || source.scope !== scope) {
      const message = `${nameOf('sequenceFlow', key)} crosses the boundary of a subprocess; the flow and both its ends must be in the same one.`;
      this.problems.error('FLOW_CROSSES_SCOPE', element, message);
      this.loose.add(element);
      return;
    }
    const flow: DraftFlow = { element, key, source, target, condition: null, index: -1 };
    this.flows.push(flow);
    source.outgoing.push(flow);
    target.incoming.push(flow);
  }

  private endOf(flow: BpmnElement, property: 'sourceRef' | 'targetRef'): DraftNode | undefined {
    const end = childOf(flow, property);
    const node = end && this.nodes.get(end);
    if (end === undefined && !this.problems.hasWrongReference(flow) && !this.problems.isIncomplete) {
      this.problems.error('MISSING_VALUE', flow, `A sequence flow needs ${property}.`);
    } else if (
      node === undefined &&
      end !== undefined &&
      isA(end, 'bpmn:FlowNode') &&
      isElsewhere(end, this.process)
    ) {
      const message = `${property} of a sequence flow is in another process; only messages can pass between processes.`;
      this.problems.error('FLOW_CROSSES_PROCESS', flow, message);
    }
    return node;
  }

  private attach(node: DraftNode): void {
    if (node.kind !== 'BOUNDARY_EVENT') {
      return;
    }
    const host = childOf(node.element, 'attachedToRef');
    const activity = host && this.nodes.get(host);
    if (activity !== undefined) {
      node.attachedTo = activity;
      activity.boundaries.push(node);
      return;
    }
    this.loose.add(node.element);
    if (!this.problems.hasWrongReference(node.element) && !this.problems.isIncomplete) {
      const message = `${nameOf('boundaryEvent', node.key)} must be attached to an activity of its process.`;
      this.problems.error('BOUNDARY_NOT_ATTACHED', node.element, message);
    }
  }

  /** Sorts outgoing flows by the `outgoing` children, if there are any; otherwise the order of the flows in the file counts. */
  private orderOutgoing(node: DraftNode): void {
    const listed = childrenOf(node.element, 'outgoing');
    if (listed.length > 0) {
      const rank = new Map(listed.map((element, index) => [element, index]));
      node.outgoing.sort(
        (a, b) => (rank.get(a.element) ?? listed.length) - (rank.get(b.element) ?? listed.length),
      );
    }
  }
}

function isElsewhere(element: BpmnElement, process: BpmnElement): boolean {
  for (let at = element.$parent; at !== undefined; at = at.$parent) {
    if (at === process) {
      return false;
    }
  }
  return true;
}

/** Numbers parts by the code units of their ids, which gives the same order on every machine. */
function number(parts: readonly { key: string; index: number }[]): void {
  const sorted = parts.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  sorted.forEach((part, index) => (part.index = index));
}
