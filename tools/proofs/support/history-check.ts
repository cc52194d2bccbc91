import { isDeepStrictEqual } from 'node:util';
import {
  isAcknowledged,
  isRefused,
  type Call,
  type Course,
  type Operation,
  type Reading,
  type Span,
  modelAction,
  modelStart,
  refusal,
  type LoopsState,
} from './history-calls.js';
import { checkRows, type StoredInstance } from './process-rows.js';
import { prove } from './proof.js';

const REPEATED = 'The UI action has just been executed. To execute it once more, read the instance first.';

/** A call with its possible positions in the order of effects: 2n between two effects, 2n + 1 for effect n. */
interface PositionedCall extends Span {
  what: string;
  at: readonly number[];
}

/** Results of a course according to the rows of its instance. */
export interface CourseFigures {
  effects: number;
  /** Effects of calls without a response. */
  unanswered: number;
  refused: number;
}

/**
 * Checks the responses for an instance against its rows. The rows determine the order in which actions took effect. That
 * order must be allowed by the model, contain each action once, and be consistent with the content and time of each
 * response.
 * @param stored undefined if no instance is stored
 * @throws ProofError that names the first violation
 */
export function checkCourse(course: Course, stored: StoredInstance | undefined): CourseFigures {
  const { start, calls, operations } = course;
  checkAnswers(`start of ${start.name}`, calls, stored !== undefined);
  if (stored === undefined) {
    prove(operations.length === 0, `${start.name} is lost`);
    return { effects: 0, unanswered: 0, refused: 0 };
  }
  checkRows(stored);
  return new CourseCheck(course, stored).run();
}

/**
 * Checks the responses of calls for one effect.
 * @param isThere whether the effect is stored
 */
function checkAnswers(what: string, calls: readonly Call[], isThere: boolean): void {
  const answers = new Set(calls.filter(isAcknowledged).map(({ reply }) => reply?.text));
  prove(answers.size < 2, `${what} had ${answers.size} different responses`);
  prove(answers.size === 0 || isThere, `${what} was acknowledged but is lost`);
  prove(!isThere || calls.some((call) => !isRefused(call)), `${what} was rejected but took effect`);
}

class CourseCheck {
  /** UUIDs of tokens in order of creation. */
  private readonly tokens: string[];
  /** Actions in the order in which they took effect. */
  private readonly effects: Operation[];
  /** States of the instance before each effect and after the last one. */
  private readonly states: LoopsState[];

  constructor(
    private readonly course: Course,
    private readonly stored: StoredInstance,
  ) {
    const created = stored.events.filter(({ kind }) => kind === 'TOKEN_CREATED');
    this.tokens = created.map(({ tokenId }) => stored.tokens.get(tokenId ?? -1)?.uuid ?? '');
    const byValue = new Map(course.operations.map((operation) => [operation.value, operation]));
    this.effects = logOf(stored).map((value) => {
      const operation = byValue.get(value);
      prove(operation !== undefined, `${this.name} has the effect ${value}, which was never requested`);
      return operation;
    });
    this.states = [modelStart(course.start)];
  }

  run(): CourseFigures {
    const { place, operations, readings } = this.course;
    prove(
      place === undefined || place.process === this.stored.row.uuid,
      `${this.name} is a different instance`,
    );
    prove(place === undefined || place.token === this.tokens[0], `${this.name} has a different token`);
    prove(new Set(this.effects).size === this.effects.length, `${this.name} has a duplicated effect`);
    this.replay();
    this.compareRows();
    operations.forEach((operation) => this.compareAnswers(operation));
    this.checkOrder([
      ...this.effects.map((operation, index) => this.positionEffect(operation, index)),
      ...operations.flatMap((operation) => this.positionRejections(operation)),
      ...readings.map((reading) => this.positionReading(reading)),
    ]);
    return {
      effects: this.effects.length,
      unanswered: this.effects.filter(({ calls }) => !calls.some(isAcknowledged)).length,
      refused: operations.flatMap(({ calls }) => calls.filter(isRefused)).length,
    };
  }

  private get name(): string {
    return this.course.start.name;
  }

  private replay(): void {
    for (const { token, task, value } of this.effects) {
      const state = this.last;
      const refused = refusal(state, this.tokens.indexOf(token), task);
      prove(refused === undefined, `${this.name}: ${task} of ${value} took effect, but: ${refused}`);
      this.states.push(modelAction(state, this.tokens.indexOf(token), task, value));
    }
  }

  private get last(): LoopsState {
    return this.states.at(-1) ?? modelStart(this.course.start);
  }

  /** Checks that the rows match the model after all effects. */
  private compareRows(): void {
    const { state, tokens, events, definition } = this.stored;
    const ids = [...tokens.values()].map(({ id }) => id);
    const created = this.tokens.map((uuid) => [...tokens.values()].find((token) => token.uuid === uuid));
    const order = new Map(created.map((token, index) => [token?.id ?? -1, index]));
    const rows: LoopsState = {
      state: state.state as LoopsState['state'],
      data: state.data as LoopsState['data'],
      tokens: created.flatMap((token) =>
        token === undefined
          ? []
          : [{ node: definition.node(token.node).key, state: token.state as 'ACTIVE' }],
      ),
      trail: events
        .filter(({ kind }) => kind === 'NODE_ENTERED' || kind === 'ACTION_EXECUTED')
        .map(
          ({ kind, tokenId, node }) =>
            `${kind} ${order.get(tokenId ?? -1)} ${definition.node(node ?? -1).key}`,
        ),
    };
    prove(
      ids.length === created.length,
      `${this.name} has ${ids.length} tokens but created ${created.length}`,
    );
    for (const part of ['state', 'data', 'tokens', 'trail'] as const) {
      prove(
        isDeepStrictEqual(rows[part], this.last[part]),
        `the ${part} of ${this.name} differs from the model:\n${JSON.stringify(rows[part])}\n${JSON.stringify(this.last[part])}`,
      );
    }
  }

  private compareAnswers(operation: Operation): void {
    const { value, calls, wrong, token } = operation;
    const index = this.effects.indexOf(operation);
    const what = `${value} of ${this.name}`;
    checkAnswers(what, calls, index >= 0);
    prove(wrong === undefined || index < 0, `${what} was invalid but took effect`);
    const reply = calls.find(isAcknowledged)?.reply;
    if (reply !== undefined) {
      const { node } = this.states[index + 1]?.tokens[this.tokens.indexOf(token)] ?? {};
      const { definition } = this.stored;
      const current = definition.graph.nodes.find(({ key }) => key === node);
      const fields = { tokenUuid: token, currentNodeId: current?.id, templatesSequence: null };
      const expected = { ...fields, backAction: false, resetToken: false };
      prove(isDeepStrictEqual(reply.body, expected), `${what} was answered ${reply.text}`);
    }
  }

  private positionEffect({ calls, value }: Operation, index: number): PositionedCall {
    return {
      what: value,
      sent: Math.min(...calls.map(({ sent }) => sent)),
      answered: Math.min(...calls.filter(isAcknowledged).map(({ answered }) => answered)),
      at: [2 * index + 1],
    };
  }

  /** Returns the rejections of an operation, positioned where the state justifies their message. */
  private positionRejections(operation: Operation): PositionedCall[] {
    const { calls, value, wrong } = operation;
    const conflicts = wrong === undefined ? calls.filter(({ reply }) => reply?.status === 409) : [];
    return conflicts.map((call) => ({
      what: `the rejection of ${value}`,
      sent: call.sent,
      answered: call.answered,
      at: this.states.flatMap((_, at) => (this.isJustified(operation, call, at) ? [2 * at] : [])),
    }));
  }

  private isJustified(operation: Operation, call: Call, at: number): boolean {
    const { token, task, key } = operation;
    const effect = this.effects.indexOf(operation);
    if (key !== undefined && effect >= 0 && effect < at) {
      // After its effect the call would get the stored response.
      return false;
    }
    const message = String(call.reply?.body['message']);
    const refused = refusal(this.states[at] ?? this.last, this.tokens.indexOf(token), task);
    return message === REPEATED
      ? refused === undefined && this.isDoubleClick(operation, call, at)
      : message === refused;
  }

  /**
   * Returns whether the action was executed on the token before, and its response had not arrived when the call was sent.
   */
  private isDoubleClick({ token, task }: Operation, { sent }: Call, at: number): boolean {
    const last = this.effects.slice(0, at).findLast((each) => each.token === token && each.task === task);
    return last !== undefined && this.positionEffect(last, 0).answered > sent;
  }

  private positionReading({ sent, answered, ...reading }: Reading): PositionedCall {
    const at = this.states.findIndex((state) => this.shows(state, reading));
    return {
      what: `a read of ${reading.log.length} effects`,
      sent,
      answered,
      at: at < 0 ? [] : [2 * at],
    };
  }

  private shows(state: LoopsState, reading: Omit<Reading, keyof Span>): boolean {
    const tokens = state.tokens.map((token, index) => [this.tokens[index], token] as const);
    return (
      state.state === reading.state &&
      isDeepStrictEqual(state.data.log, reading.log) &&
      tokens.length === reading.tokens.size &&
      tokens.every(([uuid, token]) => isDeepStrictEqual(reading.tokens.get(uuid ?? ''), token))
    );
  }

  /**
   * Proves linearizability for the known order of effects: each call has a position that is not before that of any call
   * answered before it was sent. Choosing the earliest possible position leaves the most room for later calls.
   */
  private checkOrder(all: readonly PositionedCall[]): void {
    const ends: { answered: number; place: number }[] = [];
    for (const { what, sent, answered, at } of all.toSorted((one, other) => one.sent - other.sent)) {
      const before = ends.filter((end) => end.answered < sent).map(({ place }) => place);
      const earliest = Math.max(0, ...before);
      const place = at.find((each) => each >= earliest);
      prove(
        place !== undefined,
        `${this.name}: ${what} fits nowhere after ${earliest / 2} of ${this.effects.length} effects; positions ${at.join(', ')}`,
      );
      ends.push({ answered, place });
    }
  }
}

function logOf({ state }: StoredInstance): string[] {
  return state.data['log'] as string[];
}
