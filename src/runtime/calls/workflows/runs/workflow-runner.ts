import { InvalidDataError, InvalidDataPathError } from '#engine/paths';
import type { JsonObject, JsonValue } from '#engine/json';
import { ExpressionError, ExpressionSyntaxError } from '#engine/expressions';
import { inSpan } from '../../../../platform/observability/tracing/spans.js';
import { yieldEventLoop } from '#engine/support';
import type { NextNode, NodeExecutor, NodeOutcome, RunScope } from '../model/node-executor.js';
import { RunData } from './run-data.js';
import { VisitTexts } from './node-texts.js';
import type { RunJournal } from '../journal/run-journal.js';
import type { RunnableNode, RunnableWorkflow, RunResult } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Dependencies of a run. */
export interface RunnerTools {
  readonly executors: readonly NodeExecutor[];
  readonly now: () => Date;
}

/** Visit in progress. */
interface OpenVisit {
  readonly node: RunnableNode;
  readonly startedAt: Date;
  readonly texts: VisitTexts;
  /** Data and predefined references. */
  readonly variables: JsonObject;
  input: JsonValue;
}

/**
 * Runs a workflow node by node from START to END and stores each result under its `responseKey`
 * (docs/process-semantics.md, section 13). Does not access the database or the system clock, and is deterministic.
 */
export class WorkflowRunner {
  private readonly nodes: ReadonlyMap<string, RunnableNode>;
  private readonly data: RunData;
  private step = 0;

  /** @throws WorkflowFailedError when the input is too large or too deep */
  constructor(
    private readonly workflow: RunnableWorkflow,
    input: JsonObject,
    private readonly scope: RunScope,
    private readonly journal: RunJournal,
    private readonly tools: RunnerTools,
  ) {
    this.nodes = new Map(workflow.nodes.map((node) => [node.id, node]));
    this.data = new RunData(input);
  }

  /**
   * @returns output and, if any, the code of the BPMN error
   * @throws WorkflowFailedError with the node; any other error, such as the reason of the aborted signal, means that the run
   * was interrupted
   */
  async run(): Promise<RunResult> {
    let node = this.start();
    for (;;) {
      const { result, next } = await this.visit(node);
      if (next.kind === 'END') {
        return { output: result, errorCode: next.errorCode };
      }
      node = this.nodeAfter(node, next);
      // Loops with many nodes must not block the event loop.
      await yieldEventLoop();
    }
  }

  private start(): RunnableNode {
    const [start, ...others] = this.workflow.nodes.filter(({ type }) => type === 'START');
    if (start === undefined || others.length > 0) {
      throw new WorkflowFailedError(
        'WORKFLOW_INVALID',
        'A workflow must have exactly one node of type START.',
      );
    }
    return start;
  }

  private visit(node: RunnableNode): Promise<NodeOutcome> {
    const attributes = {
      'svc.workflow.name': this.workflow.name,
      'svc.workflow.run': this.scope.runId,
      'svc.workflow.node': node.id,
    };
    return inSpan(`node ${node.type}`, { attributes }, () => this.execute(node));
  }

  private async execute(node: RunnableNode): Promise<NodeOutcome> {
    const visit = this.openVisit(node);
    try {
      this.scope.signal.throwIfAborted();
      this.count();
      const outcome = await this.outcomeOf(visit);
      await this.record(visit, outcome.result, null);
      return outcome;
    } catch (error) {
      const failure = failureOf(error, node);
      await this.record(visit, null, failure);
      throw failure;
    }
  }

  private openVisit(node: RunnableNode): OpenVisit {
    const variables = { ...this.data.value, ...this.scope.predefined };
    const texts = new VisitTexts(this.workflow, variables);
    return { node, startedAt: this.tools.now(), texts, variables, input: null };
  }

  private async outcomeOf(visit: OpenVisit): Promise<NodeOutcome> {
    const { node, texts, variables } = visit;
    const executor = executorOf(this.tools.executors, node.type);
    const data = this.data.value;
    if (executor.takesInput) {
      visit.input = hasText(node.inputBody) ? await texts.render(node.inputBody) : (data as JsonValue);
    }
    const { workflow, step, scope } = this;
    const context = { workflow, data, variables, input: visit.input, step, scope, texts };
    const outcome = await executor.execute(node, context);
    await this.store(node, outcome);
    return outcome;
  }

  private count(): void {
    if (this.scope.budget.nodesLeft <= 0) {
      const message = 'The run has executed too many nodes.';
      throw new WorkflowFailedError('WORKFLOW_NODE_LIMIT', message);
    }
    this.scope.budget.nodesLeft -= 1;
    this.step += 1;
  }

  private async store({ responseKey }: RunnableNode, { data, result, next }: NodeOutcome): Promise<void> {
    if (next.kind === 'END') {
      await this.data.check(result);
      return;
    }
    if (data !== undefined) {
      await this.data.replace(data);
    }
    if (hasText(responseKey)) {
      await this.data.store(responseKey, result);
    }
  }

  private nodeAfter(node: RunnableNode, next: Exclude<NextNode, { kind: 'END' }>): RunnableNode {
    const id = next.kind === 'NODE' ? next.id : sequenceTarget(node);
    const found = this.nodes.get(id);
    if (found === undefined) {
      throw new WorkflowFailedError('NODE_NOT_FOUND', 'The next node is not in the workflow.', {
        node: node.name,
        details: id,
      });
    }
    return found;
  }

  private async record(
    visit: OpenVisit,
    output: JsonValue,
    error: WorkflowFailedError | null,
  ): Promise<void> {
    const { node, startedAt, input, texts } = visit;
    const [finishedAt, missing] = [this.tools.now(), [...texts.missing]];
    await this.journal.add({ node, startedAt, finishedAt, input, output, missing, error });
  }
}

/** @throws WorkflowFailedError when this release does not support the type */
function executorOf(executors: readonly NodeExecutor[], type: string): NodeExecutor {
  const executor = executors.find((candidate) => candidate.type === type);
  if (executor === undefined) {
    throw new WorkflowFailedError(
      'NODE_TYPE_NOT_SUPPORTED',
      `This release does not run nodes of type ${type}.`,
    );
  }
  return executor;
}

function hasText(text: string | null): text is string {
  return text !== null && text.trim() !== '';
}

function sequenceTarget({ name, outgoingSequences }: RunnableNode): string {
  const [sequence, ...others] = outgoingSequences;
  if (sequence === undefined) {
    const message = 'The node has no outgoing sequence; a run must end at a node of type END.';
    throw new WorkflowFailedError('NODE_LEADS_NOWHERE', message, { node: name });
  }
  if (others.length > 0) {
    const message = 'Only nodes of type CONDITION may have several outgoing sequences.';
    throw new WorkflowFailedError('WORKFLOW_INVALID', message, { node: name });
  }
  return sequence.targetNodeId;
}

/** Converts an error to a failure of a node. @throws errors that mean that the run was interrupted */
function failureOf(error: unknown, { name }: RunnableNode): WorkflowFailedError {
  if (error instanceof WorkflowFailedError) {
    return error.at(name);
  }
  const context = { node: name, cause: error };
  if (error instanceof ExpressionError || error instanceof ExpressionSyntaxError) {
    const message = 'The template of the node cannot be filled with the data of the run.';
    return new WorkflowFailedError('NODE_INPUT_INVALID', message, { ...context, details: error.message });
  }
  if (error instanceof InvalidDataPathError || error instanceof InvalidDataError) {
    const message = 'The result of the node cannot be stored in the data of the run.';
    return new WorkflowFailedError('NODE_RESULT_INVALID', message, { ...context, details: error.message });
  }
  throw error;
}
