import type { JsonObject } from '../../json/json.js';
import type { InstanceState, InstanceWork, TokenState, TokenStatus } from './engine.types.js';
import { EngineIncident } from './engine.errors.js';
import type { StepRun } from './step-run.js';

/** Creates an instance before its START command, without data and tokens. */
export function newInstance(identity: Pick<InstanceState, 'id' | 'uuid' | 'parentUuid'>): InstanceState {
  return { ...identity, ...newContent({}), state: 'CREATED', seq: 0, tokens: new Map() };
}

/** Creates the stored content of an instance before its first step. */
export function newContent(data: JsonObject): InstanceWork {
  const empty = { joins: [], returnPoints: [], executions: [], pending: [] };
  return { data, ...empty, continues: 0, backCounter: 0 };
}

/**
 * Creates a live token.
 * @throws EngineIncident when the instance has reached its token limit
 */
export function createToken(
  run: StepRun,
  place: Pick<TokenState, 'node' | 'parentId' | 'scopeTokenId'>,
): TokenState {
  const { liveTokens } = run.context.limits;
  if (run.instance.tokens.size >= liveTokens) {
    const message = `The instance has reached the limit of ${liveTokens} live tokens.`;
    throw new EngineIncident('NODE', 'ENGINE', message, { node: place.node });
  }
  const token: TokenState = {
    ...run.context.newToken(),
    ...place,
    startNode: place.node,
    state: 'ACTIVE',
    status: 'ARRIVED',
    visit: 1,
    syncCount: 0,
    syncFinished: 0,
    actions: {},
    call: null,
    rev: 0,
  };
  run.add(token);
  run.event('TOKEN_CREATED', token, { uuid: token.uuid, parentId: token.parentId, state: token.state });
  return token;
}

/** Returns the held token that was split into this one; undefined for the first tokens of a process or embedded subprocess. */
export function splitParentOf(run: StepRun, token: TokenState): TokenState | undefined {
  return token.parentId === null || token.parentId === token.scopeTokenId
    ? undefined
    : run.token(token.parentId);
}

/** Removes a live token with its jobs, waits, place in a join and return points. Leaves its parent as it is. */
export function removeToken(run: StepRun, id: number, state: TokenStatus): void {
  run.setTokenState(id, state);
  const token = run.edit(id);
  if (run.nodeOf(token).waits || hasPendingAction(token)) {
    run.cancelBackground(token);
  }
  unpark(run, id);
  const { instance } = run;
  instance.returnPoints = instance.returnPoints.filter(({ tokenId }) => tokenId !== id);
  instance.pending = instance.pending.filter(({ tokenId }) => tokenId !== id);
  run.remove(token);
}

export function hasPendingAction(token: TokenState): boolean {
  return Object.values(token.actions).some(({ state }) => state === 'PENDING');
}

/** Whether a token waits at a join. */
export function isParked(run: Pick<StepRun, 'instance'>, id: number): boolean {
  return run.instance.joins.some(({ arrivals }) => arrivals.some((tokens) => tokens.includes(id)));
}

export function unpark(run: StepRun, id: number): void {
  if (!isParked(run, id)) {
    return;
  }
  run.instance.joins = run.instance.joins
    .map((join) => ({
      ...join,
      arrivals: join.arrivals.map((tokens) =>
        tokens.includes(id) ? tokens.filter((token) => token !== id) : tokens,
      ),
    }))
    .filter(({ arrivals }) => arrivals.some((tokens) => tokens.length > 0));
}

/** Returns the descendants of a token: from its splits and from the embedded subprocess where it waits. */
export function descendantsOf(run: Pick<StepRun, 'instance'>, id: number): TokenState[] {
  const below = new Set([id]);
  const found: TokenState[] = [];
  // Tokens are in any order, so a parent may follow its child; each pass finds at least one more level.
  for (let size = 0; size < below.size;) {
    size = below.size;
    for (const token of run.instance.tokens.values()) {
      if (!below.has(token.id) && token.parentId !== null && below.has(token.parentId)) {
        below.add(token.id);
        found.push(token);
      }
    }
  }
  return found;
}

/** Returns the ids of a token and its ancestors. */
export function lineageOf(run: Pick<StepRun, 'instance'>, token: TokenState): Set<number> {
  const line = new Set<number>();
  for (let at: TokenState | undefined = token; at !== undefined;) {
    line.add(at.id);
    at = at.parentId === null ? undefined : run.instance.tokens.get(at.parentId);
  }
  return line;
}
