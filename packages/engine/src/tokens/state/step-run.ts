import type { JsonObject } from '../../json/json.js';
import { WorkBudget } from '../../expressions/expression-limits.js';
import { EngineIncident } from './engine.errors.js';
import type {
  EngineCommand,
  EngineEventKind,
  EngineEvent,
  EngineJob,
  InstanceState,
  InstanceStatus,
  MessageWait,
  StepContext,
  StepResult,
  TokenState,
  TokenStatus,
} from './engine.types.js';
import type { RuntimeDefinition, RuntimeNode } from './runtime-definition.js';

/** A moving token: over a flow, or onto the start node of a process or embedded subprocess. */
export type Arrival = { tokenId: number; flow: number } | { tokenId: number; node: number };

/** State of a running step. The given instance state is never changed: parts are copied before they change. */
export class StepRun {
  readonly instance: InstanceState;
  /** Moving tokens, first in, first out. */
  readonly queue: Arrival[] = [];
  readonly jobs: EngineJob[] = [];
  readonly waits: MessageWait[] = [];
  action: StepResult['action'] = null;
  /** Whether process data or results of children may have grown. */
  dataChanged = false;
  /** Work budget of all expressions and templates of the step. */
  readonly work: WorkBudget;
  /** Number of arrivals at nodes. */
  arrivals = 0;
  private readonly events: EngineEvent[] = [];
  private readonly warnings = new Set<string>();
  private readonly changed = new Map<number, TokenState>();
  private readonly cancelled = new Set<number>();
  private children: Map<number, number> | undefined;

  constructor(
    readonly definition: RuntimeDefinition,
    private readonly given: InstanceState,
    readonly command: EngineCommand,
    readonly context: StepContext,
  ) {
    this.work = new WorkBudget(context.limits.expressionSteps);
    this.instance = { ...given, tokens: new Map(given.tokens) };
  }

  /** Whether tokens were moving when the step began, because an earlier step had reached its limit. */
  get wasMoving(): boolean {
    return this.given.pending.length > 0;
  }

  nodeOf(token: TokenState): RuntimeNode {
    return this.definition.node(token.node);
  }

  token(id: number): TokenState | undefined {
    return this.instance.tokens.get(id);
  }

  /**
   * Returns a live token for changes, as a copy owned by this step.
   * @throws RangeError when the token is not live
   */
  edit(id: number): TokenState {
    const token = this.instance.tokens.get(id);
    if (token === undefined) {
      throw new RangeError(`Token ${id} is not live.`);
    }
    if (this.changed.get(id) === token) {
      return token;
    }
    const copy = { ...token };
    this.changed.set(id, copy);
    this.instance.tokens.set(id, copy);
    return copy;
  }

  /** Returns the latest state of a token, even if it ended in this step. */
  lastOf(id: number): TokenState | undefined {
    return this.instance.tokens.get(id) ?? this.changed.get(id);
  }

  add(token: TokenState): void {
    this.changed.set(token.id, token);
    this.instance.tokens.set(token.id, token);
    this.countChild(token.parentId, 1);
  }

  remove(token: TokenState): void {
    this.instance.tokens.delete(token.id);
    this.countChild(token.parentId, -1);
  }

  /** Returns the levels with created, changed or ended tokens, as the tokens that wait at their subprocesses. */
  changedScopes(): ReadonlySet<number | null> {
    return new Set([...this.changed.values()].map(({ scopeTokenId }) => scopeTokenId));
  }

  /** Returns the number of live child tokens, including parked ones. */
  childrenOf(id: number): number {
    return this.childCounts().get(id) ?? 0;
  }

  /** Counts on first use, because most steps never need it. */
  private childCounts(): Map<number, number> {
    if (this.children === undefined) {
      this.children = new Map();
      for (const { parentId } of this.instance.tokens.values()) {
        if (parentId !== null) {
          this.children.set(parentId, (this.children.get(parentId) ?? 0) + 1);
        }
      }
    }
    return this.children;
  }

  private countChild(parentId: number | null, change: number): void {
    if (parentId !== null && this.children !== undefined) {
      this.children.set(parentId, (this.children.get(parentId) ?? 0) + change);
    }
  }

  event(
    kind: EngineEventKind,
    token: Pick<TokenState, 'id' | 'node'> | null,
    data: JsonObject | null = null,
  ): void {
    this.instance.seq += 1;
    const { id: tokenId = null, node = null } = token ?? {};
    this.events.push({ seq: this.instance.seq, kind, tokenId, node, data });
  }

  /** @param data added to the event, in addition to both states */
  setInstanceState(state: InstanceStatus, data: JsonObject = {}): void {
    const from = this.instance.state;
    this.instance.state = state;
    this.event('INSTANCE_STATE', null, { from, to: state, ...data });
  }

  /** Changes the state of a live token. Does nothing if it already has this state. */
  setTokenState(id: number, state: TokenStatus): void {
    const from = this.token(id)?.state;
    if (from !== state) {
      const token = this.edit(id);
      token.state = state;
      this.event('TOKEN_STATE', token, { from, to: state });
    }
  }

  /** Whether the current visit began in an earlier step, so that its jobs and waits may be stored. */
  wasStored(token: TokenState): boolean {
    return this.given.tokens.get(token.id)?.visit === token.visit;
  }

  /** Cancels stored background work of the token's current visit. */
  cancelBackground(token: TokenState): void {
    if (this.given.tokens.has(token.id)) {
      this.cancelled.add(token.id);
    }
  }

  warn(message: string): void {
    this.warnings.add(message);
  }

  incident(
    type: EngineIncident['type'],
    message: string,
    token: Pick<TokenState, 'id' | 'node'> | null,
    cause?: unknown,
  ): EngineIncident {
    const place = token === null ? {} : { node: token.node, tokenId: token.id };
    const source = type === 'SUBPROCESS' ? 'SUBPROCESS' : 'NODE';
    return new EngineIncident(source, type, message, place, { cause });
  }

  finish(): StepResult {
    return {
      instance: this.instance,
      changedTokens: [...this.changed.values()],
      events: this.events,
      jobs: this.jobs.filter((job) => this.isValid(job)),
      cancelledTokens: [...this.cancelled],
      waits: this.waits.filter(({ tokenId, visit }) => this.token(tokenId)?.visit === visit),
      action: this.action,
      warnings: [...this.warnings],
    };
  }

  /** Whether a job must be stored. Jobs of a visit that ended within the step are dropped. */
  private isValid(job: EngineJob): boolean {
    const ofVisit =
      job.kind === 'TIMER' ||
      job.kind === 'ACTION_DUE' ||
      job.kind === 'WORKFLOW' ||
      (job.kind === 'CALL' && job.waits);
    return !ofVisit || this.token(job.tokenId)?.visit === job.visit;
  }
}
