import type { JsonObject, JsonValue } from '../../src/json/json.js';
import type { ProcessGraph } from '../../src/definitions/model/process-graph.types.js';
import { EngineIncident, EngineRefusal } from '../../src/tokens/state/engine.errors.js';
import type {
  EngineCommand,
  EngineEvent,
  EngineJob,
  InstanceState,
  MessageWait,
  StepContext,
  StepResult,
  TokenState,
} from '../../src/tokens/state/engine.types.js';
import { newInstance } from '../../src/tokens/state/tokens.js';
import { openUiActions } from '../../src/tokens/ui-actions/ui-actions.js';
import { RuntimeDefinition } from '../../src/tokens/state/runtime-definition.js';
import { step } from '../../src/tokens/step.js';

/** Answer of a simulated workflow, immediate or delayed: an output, a failure or a BPMN error (`thrown`). */
export type WorkflowAnswer = {
  output?: JsonValue;
  errorCode?: string | null;
  thrown?: string;
  afterMs?: number;
};
export type WorkflowHandler = (input: JsonObject, instanceId: number) => WorkflowAnswer;

/** One instance with the state that a database would store. */
export interface MemoryInstance {
  definition: RuntimeDefinition;
  state: InstanceState;
  events: EngineEvent[];
  /** Every token, including ended ones, as last stored. */
  tokens: Map<number, TokenState>;
  parent: {
    instanceId: number;
    tokenId: number;
    visit: number;
    index: number;
    seq: number;
    waits: boolean;
  } | null;
  warnings: string[];
}

const answerNothing: WorkflowHandler = () => ({ output: null });

interface StoredJob {
  id: number;
  instanceId: number;
  job: EngineJob | WorkflowResultJob;
  at: number;
}

/** Delivers the delayed answer of a workflow. */
interface WorkflowResultJob {
  kind: 'ANSWER';
  command: Extract<EngineCommand, { kind: 'ACTION_DONE' | 'ACTION_FAILED' | 'ACTION_ERROR' }>;
}

export const LIMITS: StepContext['limits'] = {
  nodesPerStep: 200,
  continues: 100_000,
  liveTokens: 500,
  items: 100,
  dataBytes: 1_048_576,
  dataValues: 50_000,
  expressionSteps: 100_000,
  returnPoints: 100,
};

/**
 * Runs instances, their children, background jobs on a clock of its own and messages between them, all in memory and through
 * `step` alone. State is serialized and frozen between steps.
 */
export class MemoryEngine {
  now = Date.UTC(2026, 0, 1);
  readonly instances = new Map<number, MemoryInstance>();
  readonly incidents: { instanceId: number; error: EngineIncident; job: EngineJob | null }[] = [];
  readonly workflows = new Map<string, WorkflowHandler>();
  jobs: StoredJob[] = [];
  waits: (MessageWait & { instanceId: number })[] = [];
  messages: { message: string; correlation: string | null; payload: JsonObject }[] = [];
  limits = LIMITS;
  /** Whether state is serialized and frozen between steps. */
  serializesState = true;
  /** Maximum number of background jobs in one run; more count as an endless loop. */
  maxJobs = 10_000;
  /** Called after every step that was stored. */
  afterStep: (instance: MemoryInstance, result: StepResult) => void = () => {};
  private readonly definitions = new Map<string, RuntimeDefinition>();
  private lastId = 0;

  constructor(...graphs: (ProcessGraph | RuntimeDefinition)[]) {
    graphs.forEach((graph) => this.define(graph));
  }

  define(process: ProcessGraph | RuntimeDefinition): void {
    const definition = process instanceof RuntimeDefinition ? process : new RuntimeDefinition(process);
    this.definitions.set(definition.graph.name, definition);
  }

  /** Starts an instance; background work waits for `run`. */
  start(
    name: string,
    data: JsonObject = {},
    options: { start?: string; parent?: MemoryInstance['parent'] } = {},
  ): MemoryInstance {
    const definition = this.definitions.get(name);
    if (definition === undefined) {
      throw new Error(`No process ${name}`);
    }
    const { graph } = definition;
    const startNode =
      options.start === undefined ? graph.starts[0] : this.nodeIndex(definition, options.start);
    const parent = options.parent ?? null;
    const id = this.newId();
    const parentUuid = parent === null ? null : `instance-${parent.instanceId}`;
    const state = newInstance({ id, uuid: `instance-${id}`, parentUuid });
    const instance: MemoryInstance = {
      definition,
      state,
      events: [],
      tokens: new Map(),
      parent,
      warnings: [],
    };
    this.instances.set(id, instance);
    this.step(instance, { kind: 'START', startNode: startNode ?? 0, data: structuredClone(data) });
    return instance;
  }

  /** Executes a UI action `NODE.ACTION` on the only token where it is open, or on the given one. */
  act(instance: MemoryInstance, action: string, body: JsonObject = {}, tokenId?: number): StepResult {
    const uiActionSvcUuid = `ui:${action}`;
    const token =
      tokenId ??
      [...instance.state.tokens.values()].find((candidate) =>
        this.open(instance, candidate).some(({ svcUuid }) => svcUuid === uiActionSvcUuid),
      )?.id ??
      -1;
    return this.step(instance, { kind: 'UI_ACTION', tokenId: token, uiActionSvcUuid, body });
  }

  open(instance: MemoryInstance, token: TokenState): ReturnType<typeof openUiActions> {
    return openUiActions(instance.definition, instance.state, token);
  }

  /** Runs background work that is due now, and the work that results from it. */
  run(): void {
    for (let turn = 0; turn < this.maxJobs; turn += 1) {
      const next = this.jobs
        .filter(({ at }) => at <= this.now)
        .toSorted((a, b) => a.at - b.at || a.id - b.id)[0];
      if (next === undefined) {
        return;
      }
      this.jobs = this.jobs.filter(({ id }) => id !== next.id);
      this.runJob(next);
    }
    throw new Error('Background work did not finish.');
  }

  /** Advances the clock and runs jobs when they are due. */
  advance(milliseconds: number): void {
    const until = this.now + milliseconds;
    for (;;) {
      this.run();
      const next = Math.min(...this.jobs.map(({ at }) => at));
      if (next > until) {
        break;
      }
      this.now = Math.max(this.now, next);
    }
    this.now = until;
  }

  publish(message: string, payload: JsonObject = {}, correlation: string | null = null): void {
    this.messages.push({ message, correlation, payload });
    this.deliver();
    this.run();
  }

  /** Executes a command and stores the result if it succeeds. */
  step(instance: MemoryInstance, command: EngineCommand): StepResult {
    const result = step(instance.definition, instance.state, command, {
      now: this.now,
      newToken: () => {
        const id = this.newId();
        return { id, uuid: `token-${id}` };
      },
      limits: this.limits,
    });
    this.store(instance, result);
    this.afterStep(instance, result);
    return result;
  }

  /** Returns the child instances in the order of their start. */
  children(instance: MemoryInstance): MemoryInstance[] {
    return [...this.instances.values()].filter(({ parent }) => parent?.instanceId === instance.state.id);
  }

  private store(instance: MemoryInstance, result: StepResult): void {
    instance.state = this.serializesState ? throughJson(result.instance) : result.instance;
    result.changedTokens.forEach((token) => instance.tokens.set(token.id, token));
    instance.events.push(...result.events);
    instance.warnings.push(...result.warnings);
    this.cancel(instance, result.cancelledTokens);
    const instanceId = instance.state.id;
    for (const job of result.jobs) {
      this.add(instanceId, job, 'at' in job ? job.at : this.now);
    }
    this.waits.push(...result.waits.map((wait) => ({ ...wait, instanceId })));
    this.deliver();
  }

  private cancel(instance: MemoryInstance, tokens: readonly number[]): void {
    const isStale = ({ tokenId, visit }: { tokenId: number; visit: number }) =>
      tokens.includes(tokenId) && instance.state.tokens.get(tokenId)?.visit !== visit;
    const instanceId = instance.state.id;
    this.waits = this.waits.filter((wait) => wait.instanceId !== instanceId || !isStale(wait));
    this.jobs = this.jobs.filter(
      (stored) => stored.instanceId !== instanceId || !cancellable(stored.job, isStale),
    );
  }

  private add(instanceId: number, job: StoredJob['job'], at: number): void {
    this.jobs.push({ id: this.newId(), instanceId, job, at });
  }

  private runJob({ instanceId, job }: StoredJob): void {
    const instance = this.instances.get(instanceId);
    if (instance === undefined) {
      return;
    }
    switch (job.kind) {
      case 'TIMER':
        return this.inBackground(instance, { ...job, kind: 'TIMER' }, job);
      case 'ACTION_DUE':
        return this.inBackground(instance, { ...job, kind: 'ACTION_DUE' }, job);
      case 'CONTINUE':
        return this.inBackground(instance, { kind: 'CONTINUE' }, job);
      case 'WORKFLOW':
        return this.answer(instance, job);
      case 'ANSWER':
        return this.inBackground(instance, job.command, null);
      case 'CALL':
        return this.call(instance, job);
      case 'NOTIFY_PARENT':
        return this.notifyParent(instance, job);
      case 'APPEND_TO_PARENT':
        return this.inParent(instance, { kind: 'APPEND', values: job.values }, job);
      case 'PUBLISH_MESSAGE':
        this.messages.push(job);
        return this.deliver();
      case 'END_CHILDREN':
        return this.endChildren(instance, job);
    }
  }

  private answer(instance: MemoryInstance, job: Extract<EngineJob, { kind: 'WORKFLOW' }>): void {
    const handler = this.workflows.get(job.workflow) ?? answerNothing;
    const { afterMs = 0, ...answer } = handler(job.input, instance.state.id);
    const command = commandOf(job, answer);
    if (afterMs === 0) {
      this.inBackground(instance, command, job);
    } else {
      this.add(instance.state.id, { kind: 'ANSWER', command }, this.now + afterMs);
    }
  }

  private call(instance: MemoryInstance, job: Extract<EngineJob, { kind: 'CALL' }>): void {
    const { tokenId, visit, index, seq, waits } = job;
    this.start(job.process, job.data, {
      parent: { instanceId: instance.state.id, tokenId, visit, index, seq, waits },
    });
  }

  private notifyParent(child: MemoryInstance, job: Extract<EngineJob, { kind: 'NOTIFY_PARENT' }>): void {
    if (child.parent?.waits === true) {
      const { tokenId, visit, index } = child.parent;
      this.inParent(child, { kind: 'CHILD_ENDED', tokenId, visit, index, outcome: job.outcome }, job);
    }
  }

  private inParent(child: MemoryInstance, command: EngineCommand, job: EngineJob): void {
    const parent = this.instances.get(child.parent?.instanceId ?? -1);
    if (parent !== undefined) {
      this.inBackground(parent, command, job, child);
    }
  }

  /** Acts as a worker: drops stale commands, postpones those on hold, records incidents. */
  private inBackground(
    instance: MemoryInstance,
    command: EngineCommand,
    job: EngineJob | null,
    owner = instance,
  ): void {
    try {
      this.step(instance, command);
    } catch (error) {
      if (error instanceof EngineIncident) {
        this.incidents.push({ instanceId: instance.state.id, error, job });
      } else if (error instanceof EngineRefusal && error.code === 'INSTANCE_NOT_STARTED' && job !== null) {
        this.add(owner.state.id, job, this.now + 1_000);
      } else if (!(error instanceof EngineRefusal && error.code === 'STALE')) {
        throw error;
      }
    }
  }

  private endChildren(instance: MemoryInstance, job: Extract<EngineJob, { kind: 'END_CHILDREN' }>): void {
    const isSelected = (call: { tokenId: number; visit: number; seq: number; waits: boolean }) => {
      if (job.tokenId === null) {
        return true;
      }
      if (job.visit !== null) {
        return call.waits && call.tokenId === job.tokenId && call.visit === job.visit;
      }
      return call.seq >= job.sinceSeq && this.isBelow(instance, call.tokenId, job.tokenId);
    };
    const id = instance.state.id;
    this.jobs = this.jobs.filter(
      (stored) => stored.instanceId !== id || stored.job.kind !== 'CALL' || !isSelected(stored.job),
    );
    for (const child of this.children(instance)) {
      const running = child.state.state === 'STARTED' || child.state.state === 'ONHOLD';
      if (running && child.parent !== null && isSelected(child.parent)) {
        this.step(child, { kind: 'END', state: job.state });
      }
    }
  }

  private isBelow(instance: MemoryInstance, tokenId: number, ancestor: number): boolean {
    for (let at: number | null = tokenId; at !== null; at = instance.tokens.get(at)?.parentId ?? null) {
      if (at === ancestor) {
        return true;
      }
    }
    return false;
  }

  /** Delivers each message to the oldest wait, or starts an instance at a message start event. */
  private deliver(): void {
    for (const message of this.messages) {
      if (!this.messages.includes(message)) {
        continue;
      }
      const wait = this.waits.find(
        (candidate) => candidate.message === message.message && candidate.correlation === message.correlation,
      );
      const instance = this.instances.get(wait?.instanceId ?? -1);
      if (wait !== undefined && instance?.state.state === 'STARTED') {
        this.messages = this.messages.filter((other) => other !== message);
        this.waits = this.waits.filter((other) => other !== wait);
        const { tokenId, visit, node } = wait;
        this.inBackground(
          instance,
          { kind: 'MESSAGE', tokenId, visit, node, payload: message.payload },
          null,
        );
      } else if (wait === undefined) {
        this.startByMessage(message);
      }
    }
  }

  private startByMessage(message: (typeof this.messages)[number]): void {
    for (const [name, { graph }] of this.definitions) {
      const start = graph.nodes.find(
        ({ kind, event }) =>
          kind === 'START_EVENT' && event?.type === 'MESSAGE' && event.message === message.message,
      );
      if (start !== undefined) {
        this.messages = this.messages.filter((other) => other !== message);
        this.start(name, message.payload, { start: start.key });
        return;
      }
    }
  }

  private nodeIndex({ graph }: RuntimeDefinition, key: string): number {
    return graph.nodes.findIndex((node) => node.key === key);
  }

  private newId(): number {
    this.lastId += 1;
    return this.lastId;
  }
}

function commandOf(
  { tokenId, visit, actionSvcUuid }: Extract<EngineJob, { kind: 'WORKFLOW' }>,
  { output = null, errorCode, thrown }: WorkflowAnswer,
): WorkflowResultJob['command'] {
  const place = { tokenId, visit, actionSvcUuid };
  if (thrown !== undefined) {
    return { kind: 'ACTION_ERROR', ...place, errorCode: thrown };
  }
  return errorCode === undefined
    ? { kind: 'ACTION_DONE', ...place, output }
    : { kind: 'ACTION_FAILED', ...place, errorCode, message: 'The workflow failed.' };
}

function cancellable(
  job: StoredJob['job'],
  isStale: (visit: { tokenId: number; visit: number }) => boolean,
): boolean {
  switch (job.kind) {
    case 'TIMER':
    case 'ACTION_DUE':
    case 'WORKFLOW':
      return isStale(job);
    case 'ANSWER':
      return isStale(job.command);
    default:
      return false;
  }
}

function throughJson(state: InstanceState): InstanceState {
  const { tokens, ...rest } = state;
  const stored = JSON.parse(JSON.stringify({ rest, tokens: [...tokens.values()] })) as {
    rest: Omit<InstanceState, 'tokens'>;
    tokens: TokenState[];
  };
  return frozen({ ...stored.rest, tokens: new Map(stored.tokens.map((token) => [token.id, frozen(token)])) });
}

/** Freezes a state, so that a step that changes it throws. */
function frozen<T extends object>(value: T): T {
  Object.values(value).forEach((member: unknown) => {
    if (typeof member === 'object' && member !== null && !(member instanceof Map)) {
      frozen(member);
    }
  });
  return Object.freeze(value);
}

/** Keys of the nodes that tokens have entered, in order. */
export function trace(instance: MemoryInstance, ...kinds: string[]): string[] {
  const { graph } = instance.definition;
  return instance.events
    .filter(({ kind }) => kind === 'NODE_ENTERED')
    .map(({ node }) => graph.nodes[node ?? -1]!)
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .map(({ key }) => key);
}

/** Positions of live tokens: `node STATE status`, sorted. */
export function positions(instance: MemoryInstance): string[] {
  return [...instance.state.tokens.values()]
    .map(({ node, state, status }) => `${instance.definition.node(node).key} ${state} ${status}`)
    .toSorted();
}
