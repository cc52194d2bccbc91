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

/** A token on its way: over a flow, or put on a node, where a process or an embedded subprocess starts. */
export type Arrival = { tokenId: number; flow: number } | { tokenId: number; node: number };

/** The work of a step so far. The given state is never changed: a part is copied before it changes. */
export class StepRun {
  readonly instance: InstanceState;
  /** Tokens under way, served in the order they set out. */
  readonly queue: Arrival[] = [];
  readonly jobs: EngineJob[] = [];
  readonly waits: MessageWait[] = [];
  action: StepResult['action'] = null;
  /** Whether data or answers of children may have grown. */
  dataChanged = false;
  /** What all expressions and templates of the step pay with. */
  readonly work: WorkBudget;
  /** Nodes that tokens have arrived at. */
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

  /** Whether tokens were under way when the step began, because an earlier one had reached its bound. */
  get wasUnderWay(): boolean {
    return this.given.pending.length > 0;
  }

  nodeOf(token: TokenState): RuntimeNode {
    return this.definition.node(token.node);
  }

  token(id: number): TokenState | undefined {
    return this.instance.tokens.get(id);
  }

  /**
   * A live token, to be changed: its own copy from now on.
   * @throws RangeError when there is none
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

  /** A token as the step leaves it, also when it has ended in the step. */
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

  /** The levels, by the token that waits at their subprocess, in which a token was made, changed or ended. */
  changedScopes(): ReadonlySet<number | null> {
    return new Set([...this.changed.values()].map(({ scopeTokenId }) => scopeTokenId));
  }

  /** Live tokens, parked ones too, that have this one as their parent. */
  childrenOf(id: number): number {
    return this.childCounts().get(id) ?? 0;
  }

  /** Counted when first asked for: most steps never are. */
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

  /** @param data of the event, beside both states */
  setInstanceState(state: InstanceStatus, data: JsonObject = {}): void {
    const from = this.instance.state;
    this.instance.state = state;
    this.event('INSTANCE_STATE', null, { from, to: state, ...data });
  }

  /** Changes the state of a live token; nothing happens when it has it already. */
  setTokenState(id: number, state: TokenStatus): void {
    const from = this.token(id)?.state;
    if (from !== state) {
      const token = this.edit(id);
      token.state = state;
      this.event('TOKEN_STATE', token, { from, to: state });
    }
  }

  /** Whether the present visit began in an earlier step, so that its jobs and waits may be stored. */
  wasStored(token: TokenState): boolean {
    return this.given.tokens.get(token.id)?.visit === token.visit;
  }

  /** Cancels stored background work of the token's present visit. */
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
      jobs: this.jobs.filter((job) => this.isWanted(job)),
      cancelledTokens: [...this.cancelled],
      waits: this.waits.filter(({ tokenId, visit }) => this.token(tokenId)?.visit === visit),
      action: this.action,
      warnings: [...this.warnings],
    };
  }

  /** Work for a visit that was over within the step is never stored. */
  private isWanted(job: EngineJob): boolean {
    const ofVisit =
      job.kind === 'TIMER' ||
      job.kind === 'ACTION_DUE' ||
      job.kind === 'WORKFLOW' ||
      (job.kind === 'CALL' && job.waits);
    return !ofVisit || this.token(job.tokenId)?.visit === job.visit;
  }
}
