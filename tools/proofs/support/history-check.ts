import { isDeepStrictEqual } from 'node:util';
import {
  isAcknowledged,
  isRefused,
  type Call,
  type Course,
  type Operation,
  type Reading,
  type Span,
  acted,
  begun,
  refusal,
  type LoopsState,
} from './history-calls.js';
import { checkRows, type StoredInstance } from './process-rows.js';
import { prove } from './proof.js';

const REPEATED = 'The UI action has just been executed. To execute it once more, read the instance first.';

/** A call with the places in the order of effects at which it can have been: 2n between two effects, 2n + 1 for the effect n. */
interface Placed extends Span {
  what: string;
  at: readonly number[];
}

/** What comes of a course by the rows of its instance. */
export interface CourseFigures {
  effects: number;
  /** Effects of calls that nobody was answered. */
  unanswered: number;
  refused: number;
}

/**
 * Holds what callers were told of an instance against its rows. The rows name the order in which actions took effect; that order
 * must be one that the model allows, have each action once, and agree with what each caller was told and when.
 * @param stored undefined when there is none
 * @throws ProofError that names the first thing that does not hold
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

/** @param isThere whether the effect is there */
function checkAnswers(what: string, calls: readonly Call[], isThere: boolean): void {
  const answers = new Set(calls.filter(isAcknowledged).map(({ reply }) => reply?.text));
  prove(answers.size < 2, `${what} was answered in ${answers.size} ways`);
  prove(answers.size === 0 || isThere, `${what} was acknowledged and is lost`);
  prove(!isThere || calls.some((call) => !isRefused(call)), `${what} was refused and has happened`);
}

class CourseCheck {
  /** UUIDs of tokens in the order in which they came into being. */
  private readonly tokens: string[];
  /** Actions in the order in which they took effect. */
  private readonly effects: Operation[];
  /** The instance before each of them, and behind the last one. */
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
      prove(operation !== undefined, `${this.name} has the effect ${value}, which nobody asked for`);
      return operation;
    });
    this.states = [begun(course.start)];
  }

  run(): CourseFigures {
    const { place, operations, readings } = this.course;
    prove(place === undefined || place.process === this.stored.row.uuid, `${this.name} is another instance`);
    prove(place === undefined || place.token === this.tokens[0], `${this.name} has another token`);
    prove(new Set(this.effects).size === this.effects.length, `${this.name} has an effect twice`);
    this.replay();
    this.compareRows();
    operations.forEach((operation) => this.compareAnswers(operation));
    this.checkOrder([
      ...this.effects.map((operation, index) => this.placedEffect(operation, index)),
      ...operations.flatMap((operation) => this.placedRefusals(operation)),
      ...readings.map((reading) => this.placedReading(reading)),
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
      this.states.push(acted(state, this.tokens.indexOf(token), task, value));
    }
  }

  private get last(): LoopsState {
    return this.states.at(-1) ?? begun(this.course.start);
  }

  /** The rows are what the model says of the actions that took effect. */
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
    prove(ids.length === created.length, `${this.name} has ${ids.length} tokens and made ${created.length}`);
    for (const part of ['state', 'data', 'tokens', 'trail'] as const) {
      prove(
        isDeepStrictEqual(rows[part], this.last[part]),
        `the ${part} of ${this.name} is not that of the model:\n${JSON.stringify(rows[part])}\n${JSON.stringify(this.last[part])}`,
      );
    }
  }

  private compareAnswers(operation: Operation): void {
    const { value, calls, wrong, token } = operation;
    const index = this.effects.indexOf(operation);
    const what = `${value} of ${this.name}`;
    checkAnswers(what, calls, index >= 0);
    prove(wrong === undefined || index < 0, `${what} was wrong and has happened`);
    const reply = calls.find(isAcknowledged)?.reply;
    if (reply !== undefined) {
      const { node } = this.states[index + 1]?.tokens[this.tokens.indexOf(token)] ?? {};
      const { definition } = this.stored;
      const stands = definition.graph.nodes.find(({ key }) => key === node);
      const told = { tokenUuid: token, currentNodeId: stands?.id, templatesSequence: null };
      const expected = { ...told, backAction: false, resetToken: false };
      prove(isDeepStrictEqual(reply.body, expected), `${what} was answered ${reply.text}`);
    }
  }

  private placedEffect({ calls, value }: Operation, index: number): Placed {
    return {
      what: value,
      sent: Math.min(...calls.map(({ sent }) => sent)),
      answered: Math.min(...calls.filter(isAcknowledged).map(({ answered }) => answered)),
      at: [2 * index + 1],
    };
  }

  /** Where the state was one in which the action is refused with these words. */
  private placedRefusals(operation: Operation): Placed[] {
    const { calls, value, wrong } = operation;
    const conflicts = wrong === undefined ? calls.filter(({ reply }) => reply?.status === 409) : [];
    return conflicts.map((call) => ({
      what: `the refusal of ${value}`,
      sent: call.sent,
      answered: call.answered,
      at: this.states.flatMap((_, at) => (this.refuses(operation, call, at) ? [2 * at] : [])),
    }));
  }

  private refuses(operation: Operation, call: Call, at: number): boolean {
    const { token, task, key } = operation;
    const effect = this.effects.indexOf(operation);
    if (key !== undefined && effect >= 0 && effect < at) {
      // From then on the call would get its answer.
      return false;
    }
    const message = String(call.reply?.body['message']);
    const refused = refusal(this.states[at] ?? this.last, this.tokens.indexOf(token), task);
    return message === REPEATED
      ? refused === undefined && this.isDoubleClick(operation, call, at)
      : message === refused;
  }

  /** Whether the action was executed on the token before, and not yet acknowledged when the call was sent. */
  private isDoubleClick({ token, task }: Operation, { sent }: Call, at: number): boolean {
    const last = this.effects.slice(0, at).findLast((each) => each.token === token && each.task === task);
    return last !== undefined && this.placedEffect(last, 0).answered > sent;
  }

  private placedReading({ sent, answered, ...reading }: Reading): Placed {
    const at = this.states.findIndex((state) => this.shows(state, reading));
    return {
      what: `a reading of ${reading.log.length} effects`,
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
   * Whether there is a place for each call that is not before that of a call which was answered before this one was sent
   * (linearizability, for a known order of effects). Taking the first place possible leaves most to those behind.
   */
  private checkOrder(all: readonly Placed[]): void {
    const ends: { answered: number; place: number }[] = [];
    for (const { what, sent, answered, at } of all.toSorted((one, other) => one.sent - other.sent)) {
      const before = ends.filter((end) => end.answered < sent).map(({ place }) => place);
      const earliest = Math.max(0, ...before);
      const place = at.find((each) => each >= earliest);
      prove(
        place !== undefined,
        `${this.name}: ${what} fits nowhere behind ${earliest / 2} of ${this.effects.length} effects; places ${at.join(', ')}`,
      );
      ends.push({ answered, place });
    }
  }
}

function logOf({ state }: StoredInstance): string[] {
  return state.data['log'] as string[];
}
