import type { JsonObject, JsonValue } from '../../json/json.js';
import type { CompiledExpression } from '../../expressions/cel-expression.js';
import type { CompiledJsonTemplate } from '../../expressions/json-template.js';
import type { CompiledTemplate } from '../../expressions/template.js';
import { compileExpression, compileJsonTemplate, compileTemplate } from '../../expressions/expressions.js';
import type {
  GraphAction,
  GraphFlow,
  GraphNode,
  NodeKind,
  GraphUiAction,
  ProcessGraph,
} from '../../definitions/model/process-graph.types.js';
import { Reachability } from './reachability.js';
import { cached, groupedBy } from '../../support/cached.js';

/** A node with precomputed lookups for steps. */
export interface RuntimeNode extends GraphNode {
  /** All actions by `order`; equal ones in file order. */
  readonly ordered: readonly GraphAction[];
  readonly actionByName: ReadonlyMap<string, GraphAction>;
  /** Actions by the name of their parent, sorted. */
  readonly children: ReadonlyMap<string | null, readonly GraphAction[]>;
  /** Whether a token that rests here may have timers or waits. */
  readonly waits: boolean;
}

export interface ActionPlace {
  readonly node: RuntimeNode;
  readonly action: GraphAction;
}

/** A UI action, its node and the manual action that it executes. */
export interface UiActionPlace extends ActionPlace {
  readonly uiAction: GraphUiAction;
}

/**
 * A process graph with the lookups that steps need, created once per cached definition. Expressions and templates are compiled on first
 * use. It keeps no state of instances.
 */
export class RuntimeDefinition {
  /** Whether any node or action starts another process. */
  readonly startsProcesses: boolean;
  readonly reachability: Reachability;
  /** Whether any action runs a workflow. */
  readonly startsWorkflows: boolean;
  private readonly nodes: (RuntimeNode | undefined)[] = [];
  private readonly uiActions = new Map<string, UiActionPlace>();
  private readonly actions = new Map<string, ActionPlace>();
  private readonly expressions = new Map<string, CompiledExpression>();
  private readonly texts = new Map<string, CompiledTemplate>();
  private readonly templates = new WeakMap<JsonObject, CompiledJsonTemplate>();

  constructor(readonly graph: ProcessGraph) {
    this.reachability = new Reachability(graph.nodes, graph.flows);
    for (const node of graph.nodes) {
      this.addActions(node);
    }
    const kinds = graph.nodes.flatMap(({ actions }) => actions.map(({ operation }) => operation.kind));
    this.startsWorkflows = kinds.includes('START_WORKFLOW');
    this.startsProcesses =
      kinds.includes('START_SUBPROCESS') || graph.nodes.some(({ call }) => call !== null);
  }

  /**
   * Returns a node by its index.
   * @throws RangeError when the graph has no such node, so state and definition do not match
   */
  node(index: number): RuntimeNode {
    const known = this.nodes[index];
    if (known !== undefined) {
      return known;
    }
    const node = this.graph.nodes[index];
    if (node === undefined) {
      throw new RangeError(`The process ${this.graph.key} has no node ${index}.`);
    }
    return (this.nodes[index] = runtimeNode(this.graph, node));
  }

  /**
   * Returns a flow by its index.
   * @throws RangeError when the graph has no such flow
   */
  flow(index: number): GraphFlow {
    const flow = this.graph.flows[index];
    if (flow === undefined) {
      throw new RangeError(`The process ${this.graph.key} has no flow ${index}.`);
    }
    return flow;
  }

  /** Returns the UI action named in the path of the execute endpoint, or undefined. */
  uiAction(svcUuid: string): UiActionPlace | undefined {
    return this.uiActions.get(svcUuid);
  }

  action(svcUuid: string): ActionPlace | undefined {
    return this.actions.get(svcUuid);
  }

  /** @throws ExpressionSyntaxError when it does not parse, which the package check rules out */
  expression(source: string): CompiledExpression {
    return cached(this.expressions, source, () => compileExpression(source));
  }

  /** @throws ExpressionSyntaxError as for `expression` */
  text(source: string): CompiledTemplate {
    return cached(this.texts, source, () => compileTemplate(source));
  }

  /** @throws ExpressionSyntaxError as for `expression` */
  template(source: JsonObject): CompiledJsonTemplate {
    return cached(this.templates, source, () => compileJsonTemplate(source as JsonValue));
  }

  private addActions(graphNode: GraphNode): void {
    if (graphNode.actions.length === 0) {
      return;
    }
    const node = this.node(graphNode.index);
    for (const action of node.actions) {
      this.actions.set(action.svcUuid, { node, action });
    }
    placesAt(node).forEach((place) => this.uiActions.set(place.uiAction.svcUuid, place));
  }
}

export function placesAt(node: RuntimeNode): UiActionPlace[] {
  return node.uiActions.flatMap((uiAction) => {
    const action = node.actionByName.get(uiAction.action);
    return action === undefined ? [] : [{ node, action, uiAction }];
  });
}

function runtimeNode(graph: ProcessGraph, node: GraphNode): RuntimeNode {
  const ordered = node.actions.toSorted((one, other) => one.order - other.order);
  return {
    ...node,
    ordered,
    actionByName: new Map(ordered.map((action) => [action.name, action])),
    children: groupedBy(ordered, ({ parent }) => parent),
    waits: waitsSomewhere(graph, node),
  };
}

/** Kinds of nodes at which a token waits for an event. */
const WAITS: Readonly<Record<NodeKind, boolean>> = {
  START_EVENT: false,
  END_EVENT: false,
  INTERMEDIATE_CATCH_EVENT: true,
  INTERMEDIATE_THROW_EVENT: false,
  BOUNDARY_EVENT: false,
  TASK: false,
  USER_TASK: false,
  SEND_TASK: false,
  RECEIVE_TASK: true,
  EXCLUSIVE_GATEWAY: false,
  PARALLEL_GATEWAY: false,
  INCLUSIVE_GATEWAY: false,
  EVENT_BASED_GATEWAY: true,
  SUB_PROCESS: false,
  CALL_ACTIVITY: false,
};

function waitsSomewhere(graph: ProcessGraph, node: GraphNode): boolean {
  return (
    WAITS[node.kind] ||
    node.boundaries.some((boundary) => {
      const type = graph.nodes[boundary]?.event?.type;
      return type === 'TIMER' || type === 'MESSAGE';
    })
  );
}
