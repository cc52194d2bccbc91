import type { Place, Reply } from './process-client.js';

/** Times of request and response in milliseconds of one monotonic clock; `Infinity` without a response. */
export interface Span {
  sent: number;
  answered: number;
}

/** A call that was acknowledged or rejected according to `reply`. Without a reply its outcome is unknown. */
export interface Call extends Span {
  reply: Reply | undefined;
}

/** A UI action that a caller wants executed once, with all calls made for it. */
export interface Operation {
  /** Unique value, which the action stores. */
  value: string;
  /** UUID of the token. */
  token: string;
  task: LoopTask;
  /** Idempotency-Key; calls with it may be repeated. */
  key: string | undefined;
  /** The caller that sends it. */
  caller: 'client' | 'other';
  /** Expected rejection of every call, if the operation itself is invalid. */
  wrong: { status: number; message: string } | undefined;
  calls: Call[];
}

/** State of an instance as returned to a caller. */
export interface Reading extends Span {
  state: string;
  log: string[];
  /** By UUID. */
  tokens: Map<string, { state: string; node: string }>;
  visits: Map<string, number>;
}

/** A start that a caller wants executed once, and everything done in the started instance. */
export interface Course {
  start: LoopsStart;
  key: string | undefined;
  caller: 'client' | 'other';
  calls: Call[];
  /** Undefined until the start was acknowledged. */
  place: Place | undefined;
  operations: Operation[];
  readings: Reading[];
}

/**
 * Returns whether a call changed nothing: it was rejected, or the response states that nothing was stored
 * (docs/contract.md, section 4.3).
 */
export function isRefused({ reply }: Call): boolean {
  return reply !== undefined && reply.status !== 200;
}

export function isAcknowledged({ reply }: Call): boolean {
  return reply?.status === 200;
}

/** User tasks of `LOOPS`. The action of each accepts the key of the same name. */
export type LoopTask = 'enter' | 'left' | 'right' | 'sign';

/** Start data of an instance of `LOOPS`. */
export interface LoopsStart {
  /** Unique name. */
  name: string;
  /** Numbers of iterations of both branches and of the whole process. */
  rounds: { left: number; right: number; all: number };
  log: string[];
  cycles: number;
}

/** A token. Tokens are in order of creation. */
export interface LoopsToken {
  /** Key of its node. */
  node: string;
  state: 'ACTIVE' | 'ON_HOLD' | 'INACTIVE';
}

/** State of an instance of `LOOPS` after a sequence of accepted actions. */
export interface LoopsState {
  state: 'STARTED' | 'FINISHED';
  data: LoopsStart & Record<string, unknown>;
  tokens: LoopsToken[];
  /** Which tokens entered which nodes and executed actions there. */
  trail: string[];
}

const NOT_ACTIVE = 'The token is not active.';
const ELSEWHERE = 'The UI action is not available where the token stands.';

/**
 * Returns the state after a start. Model of `LOOPS` according to docs/process-semantics.md, section 5, without the engine.
 */
export function modelStart(start: LoopsStart): LoopsState {
  const state: LoopsState = {
    state: 'STARTED',
    data: { ...start },
    tokens: [{ node: 'start', state: 'ACTIVE' }],
    trail: [],
  };
  enter(state, 0, 'start', 'enter');
  return state;
}

/** Returns why an action is rejected; undefined if it is accepted. */
export function refusal({ tokens }: LoopsState, token: number, task: LoopTask): string | undefined {
  const { node, state } = tokens[token] ?? {};
  return state !== 'ACTIVE' ? NOT_ACTIVE : node !== task ? ELSEWHERE : undefined;
}

/** Returns the state after an accepted action. */
export function modelAction(before: LoopsState, token: number, task: LoopTask, value: string): LoopsState {
  const after = structuredClone(before);
  const { data } = after;
  execute(after, token, task);
  data[task] = value;
  data.log.push(value);
  switch (task) {
    case 'enter':
      split(after, token);
      break;
    case 'left':
    case 'right':
      goRound(after, token, task);
      break;
    case 'sign':
      closeCycle(after, token);
  }
  return after;
}

function split(state: LoopsState, token: number): void {
  enter(state, token, 'entered');
  execute(state, token, 'entered');
  Object.assign(state.data, { lefts: 0, rights: 0 });
  enter(state, token, 'split');
  set(state, token, 'ON_HOLD');
  for (const task of ['left', 'right']) {
    enter(state, state.tokens.push({ node: 'split', state: 'ACTIVE' }) - 1, task);
  }
}

function goRound(state: LoopsState, token: number, task: 'left' | 'right'): void {
  const { data, tokens } = state;
  const done = Number(data[`${task}s`]) + 1;
  data[`${task}s`] = done;
  enter(state, token, `${task}_done`);
  execute(state, token, `${task}_done`);
  enter(state, token, `${task}_done_again`, done < data.rounds[task] ? task : 'join');
  if (done < data.rounds[task]) {
    return;
  }
  set(state, token, 'INACTIVE');
  if (tokens.slice(-2).every((branch) => branch.state === 'INACTIVE')) {
    set(state, 0, 'ACTIVE');
    enter(state, 0, 'join', 'sign');
  }
}

function closeCycle(state: LoopsState, token: number): void {
  const { data } = state;
  data.cycles += 1;
  const ends = data.cycles >= data.rounds.all;
  enter(state, token, 'signed');
  execute(state, token, 'signed');
  enter(state, token, 'signed_again', ends ? 'end' : 'enter');
  if (ends) {
    set(state, token, 'INACTIVE');
    state.state = 'FINISHED';
  }
}

function enter({ tokens, trail }: LoopsState, token: number, ...nodes: string[]): void {
  trail.push(...nodes.map((node) => `NODE_ENTERED ${token} ${node}`));
  tokens[token] = { state: 'ACTIVE', ...tokens[token], node: nodes.at(-1) ?? '' };
}

function execute({ trail }: LoopsState, token: number, node: string): void {
  trail.push(`ACTION_EXECUTED ${token} ${node}`);
}

function set({ tokens }: LoopsState, token: number, state: LoopsToken['state']): void {
  tokens[token] = { node: '', ...tokens[token], state };
}
