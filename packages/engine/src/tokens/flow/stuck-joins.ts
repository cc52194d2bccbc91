import type { InstanceState, JoinState, TokenState } from '../state/engine.types.js';
import { blockersOf, isHeldBySplit, isJoin } from './joins.js';
import type { StepRun } from '../state/step-run.js';

type Scope = number | null;

/** Whether an instance is started or on hold, so that its joins can still be completed. */
export function isRunning({ state }: Pick<InstanceState, 'state'>): boolean {
  return state === 'STARTED' || state === 'ONHOLD';
}

/**
 * Marks parallel joins that can never be completed because no live token can arrive over one of their flows. BPMN 2.0.2, 13.4.1, does
 * not define such joins; they would wait forever. Call it when all tokens rest. It checks each level with a changed token and a
 * waiting join, in time linear in the size of the level. When a run of several steps ends, it checks all levels, since the earlier
 * steps did not.
 */
export function markStuckJoins(run: StepRun): void {
  const { instance } = run;
  if (instance.joins.length === 0 || instance.pending.length > 0 || !isRunning(instance)) {
    return;
  }
  const changed = run.changedScopes();
  const waiting = new Set(instance.joins.map(({ scopeTokenId }) => scopeTokenId));
  const reached = new Map<Scope, ReadonlySet<number>>();
  for (const scope of waiting) {
    if (run.wasMoving || changed.has(scope)) {
      reached.set(scope, new Reach(run, scope).flows());
    }
  }
  instance.joins = instance.joins.map((join) => {
    const flows = reached.get(join.scopeTokenId);
    return flows === undefined ? join : withMissingFlows(run, join, flows);
  });
}

function withMissingFlows(run: StepRun, join: JoinState, reached: ReadonlySet<number>): JoinState {
  const { kind, incoming } = run.definition.node(join.node);
  const missing =
    kind === 'PARALLEL_GATEWAY'
      ? incoming.filter((flow, position) => join.arrivals[position]?.length === 0 && !reached.has(flow))
      : [];
  const { missing: before, ...rest } = join;
  if (missing.length === 0) {
    return before === undefined ? join : rest;
  }
  return { ...rest, missing };
}

/**
 * Computes the flows of one level over which a token can still arrive. A token continues from its node or from a boundary event of it.
 * A parked token continues only if its join can be completed. Conditions are ignored, because data may change.
 */
class Reach {
  private readonly found = new Set<number>();
  private readonly left = new Set<number>();
  private readonly open: number[] = [];
  private readonly joins: Map<number, JoinState>;
  private readonly parked: ReadonlyMap<number, JoinState>;

  constructor(
    private readonly run: StepRun,
    private readonly scope: Scope,
  ) {
    const joins = run.instance.joins.filter(({ scopeTokenId }) => scopeTokenId === scope);
    this.joins = new Map(joins.map((join) => [join.node, join]));
    this.parked = new Map(joins.flatMap((join) => join.arrivals.flat().map((id) => [id, join] as const)));
  }

  flows(): ReadonlySet<number> {
    for (const token of this.run.instance.tokens.values()) {
      if (
        token.scopeTokenId === this.scope &&
        !this.parked.has(token.id) &&
        !isHeldBySplit(this.run, token)
      ) {
        this.advance(token.node);
      }
    }
    // An inclusive join waits for tokens, not flows: it fires when the awaited tokens can move.
    const inclusive = [...this.joins.values()].filter(
      ({ node }) => this.run.definition.node(node).kind === 'INCLUSIVE_GATEWAY',
    );
    const blockers = new Map(inclusive.map((join) => [join, blockersOf(this.run, join)]));
    for (let size = -1; size !== this.left.size;) {
      size = this.left.size;
      this.follow();
      inclusive
        .filter((join) => blockers.get(join)?.every((token) => this.moves(token)))
        .forEach((join) => this.advance(join.node));
    }
    return this.found;
  }

  private moves({ id }: TokenState): boolean {
    const join = this.parked.get(id);
    return join === undefined || this.left.has(join.node);
  }

  private follow(): void {
    for (let flow = this.open.pop(); flow !== undefined; flow = this.open.pop()) {
      const { target } = this.run.definition.flow(flow);
      if (!isJoin(this.run.definition.node(target)) || this.fires(target)) {
        this.advance(target);
      }
    }
  }

  private fires(index: number): boolean {
    const { kind, incoming } = this.run.definition.node(index);
    const join = this.joins.get(index);
    if (kind === 'INCLUSIVE_GATEWAY') {
      return join === undefined;
    }
    return incoming.every(
      (flow, position) => this.found.has(flow) || (join?.arrivals[position]?.length ?? 0) > 0,
    );
  }

  private advance(index: number): void {
    if (this.left.has(index)) {
      return;
    }
    this.left.add(index);
    const { outgoing, boundaries } = this.run.definition.node(index);
    for (const flow of outgoing) {
      if (!this.found.has(flow)) {
        this.found.add(flow);
        this.open.push(flow);
      }
    }
    boundaries.forEach((boundary) => this.advance(boundary));
  }
}
