import type { Place, Reply } from './process-client.js';

/** When something was sent and answered, in milliseconds of one monotonic clock; `Infinity` without an answer. */
export interface Span {
  sent: number;
  answered: number;
}

/** A call: acknowledged or refused, as `reply` says; without a reply nobody knows what came of it. */
export interface Call extends Span {
  reply: Reply | undefined;
}

/** A UI action that a caller wants executed once, with every call that was made for it. */
export interface Operation {
  /** Distinguishes it from all others; what it stores. */
  value: string;
  /** UUID of the token. */
  token: string;
  task: LoopTask;
  /** Idempotency-Key; calls with it may be repeated. */
  key: string | undefined;
  /** Which of the callers it belongs to. */
  caller: 'client' | 'other';
  /** What every call must be refused with, because it is wrong as it stands. */
  wrong: { status: number; message: string } | undefined;
  calls: Call[];
}

/** What a caller was shown of an instance. */
export interface Reading extends Span {
  state: string;
  log: string[];
  /** By UUID. */
  tokens: Map<string, { state: string; node: string }>;
  visits: Map<string, number>;
}

/** A start that a caller wants once, and everything that was done to what it has started. */
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

/** Whether a call has changed nothing: refused, or told that nothing is stored (docs/contract.md, section 4.3). */
export function isRefused({ reply }: Call): boolean {
  return reply !== undefined && reply.status !== 200;
}

export function isAcknowledged({ reply }: Call): boolean {
  return reply?.status === 200;
}

/** User tasks of `LOOPS`; each has an action that takes the key of its own name. */
export type LoopTask = 'enter' | 'left' | 'right' | 'sign';

/** Start data of an instance of `LOOPS`. */
export interface LoopsStart {
  /** Distinguishes it from all others. */
  name: string;
  /** How often the two branches and the whole are gone through. */
  rounds: { left: number; right: number; all: number };
  log: string[];
  cycles: number;
}

/** A token, in the order in which they come into being. */
export interface LoopsToken {
  /** Key of its node. */
  node: string;
  state: 'ACTIVE' | 'ON_HOLD' | 'INACTIVE';
}

/** What an instance of `LOOPS` is after some accepted actions. */
export interface LoopsState {
  state: 'STARTED' | 'FINISHED';
  data: LoopsStart & Record<string, unknown>;
  tokens: LoopsToken[];
  /** Which token has come to which node, and has executed an action there. */
  trail: string[];
}

const NOT_ACTIVE = 'The token is not active.';
const ELSEWHERE = 'The UI action is not available where the token stands.';

/** The model of `LOOPS`: docs/process-semantics.md, section 5, for this one process and without the engine. */
export function begun(start: LoopsStart): LoopsState {
  const state: LoopsState = {
    state: 'STARTED',
    data: { ...start },
    tokens: [{ node: 'start', state: 'ACTIVE' }],
    trail: [],
  };
  enter(state, 0, 'start', 'enter');
  return state;
}

/** Why an action is refused; undefined when it is not. */
export function refusal({ tokens }: LoopsState, token: number, task: LoopTask): string | undefined {
  const { node, state } = tokens[token] ?? {};
  return state !== 'ACTIVE' ? NOT_ACTIVE : node !== task ? ELSEWHERE : undefined;
}

/** What comes of an action that is not refused. */
export function acted(before: LoopsState, token: number, task: LoopTask, value: string): LoopsState {
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
