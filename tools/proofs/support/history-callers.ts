import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../../packages/engine/test/support/random.js';
import {
  isAcknowledged,
  type Call,
  type Course,
  type Operation,
  type Reading,
  type LoopTask,
} from './history-calls.js';
import { isConnectionLost, firstPlace, type ProcessClient, type Reply } from './process-client.js';
import type { Load } from './process-site.js';
import { prove } from './proof.js';

const UNREACHABLE_MS = 50;
/** Few enough that several callers act in the same instance. */
const OPEN_COURSES = 24;
/** Probability that a caller uses a state read earlier by another caller. */
const FROM_MEMORY = 0.5;
const TASKS: readonly LoopTask[] = ['enter', 'left', 'right', 'sign'];
const INVALID = { status: 400, message: 'Request validation failed.' };
const KEY_REUSED = { status: 409, message: 'The Idempotency-Key was used for a request with another body.' };

/** Clients of both callers, replaced when the service restarts. */
export type Clients = Record<'client' | 'other', ProcessClient>;

type Open = Course & { acting: number; alone: boolean };
type Active = { token: string; task: LoopTask };
/** A caller's next action in an instance, given its last known state. */
type Move = (course: Open, reading: Reading, random: Random) => Promise<void>;

/**
 * Callers that start instances of `LOOPS` and act in them, determined by a seed: several concurrently in one instance,
 * correctly, incorrectly, repeatedly and too late. Records every call with its times and outcome.
 */
export class HistoryCallers implements Load {
  readonly courses: Course[] = [];
  acknowledged = 0;
  databaseMayFail = false;
  private readonly open: Open[] = [];
  private readonly randoms = new Map<number, Random>();
  private running = false;
  private values = 0;
  /** Moves with their relative frequencies. */
  private readonly moves: readonly (readonly [number, Move])[] = [
    [10, (...at) => this.forward(...at)],
    [3, (...at) => this.sendTwice(...at)],
    [2, (...at) => this.doubleClick(...at)],
    [3, (...at) => this.actConcurrently(...at)],
    [2, (...at) => this.repeat(...at)],
    [1, (...at) => this.actRandomly(...at)],
    [1, (...at) => this.sendInvalid(...at)],
    [1, (...at) => this.reuseKey(...at)],
  ];

  constructor(
    private readonly build: string,
    private readonly seed: number,
    private readonly clients: () => Clients,
  ) {}

  async run(callers: number): Promise<void> {
    this.running = true;
    try {
      await Promise.all(Array.from({ length: callers }, (_, caller) => this.work(caller)));
    } finally {
      this.running = false;
    }
  }

  pause(): void {
    this.running = false;
  }

  private async work(caller: number): Promise<void> {
    const random = this.randoms.get(caller) ?? new Random(this.seed * 1_000 + caller);
    this.randoms.set(caller, random);
    while (this.running) {
      await this.next(random).catch((error: unknown) => {
        this.pause();
        throw error;
      });
    }
  }

  private async next(random: Random): Promise<void> {
    if (this.open.length < OPEN_COURSES) {
      await this.start(this.begin(random), random);
      return;
    }
    const course = random.pick(this.open);
    if (course.place === undefined) {
      await (course.key === undefined ? sleep(UNREACHABLE_MS) : this.start(course, random));
      return;
    }
    const known = random.chance(FROM_MEMORY) ? course.readings.at(-1) : undefined;
    const reading = known ?? (await this.read(course));
    if (reading === undefined) {
      return;
    }
    if (reading.state === 'FINISHED' && this.open.includes(course)) {
      this.open.splice(this.open.indexOf(course), 1);
    }
    if (course.alone) {
      return;
    }
    course.acting += 1;
    await this.move(random)(course, reading, random);
    course.acting -= 1;
  }

  private move(random: Random): Move {
    const choices = this.moves.flatMap(([weight, move]) => Array.from({ length: weight }, () => move));
    return random.pick(choices);
  }

  private begin(random: Random): Open {
    const name = `course-${this.courses.length}`;
    const rounds = { left: random.between(1, 3), right: random.between(1, 3), all: random.between(1, 2) };
    const course: Open = {
      start: { name, rounds, log: [], cycles: 0 },
      key: random.chance(0.7) ? name : undefined,
      caller: random.pick(['client', 'other']),
      calls: [],
      place: undefined,
      operations: [],
      readings: [],
      acting: 0,
      alone: false,
    };
    this.courses.push(course);
    this.open.push(course);
    return course;
  }

  /** Starts an instance, sometimes twice concurrently or with an additional rejected request. */
  private async start(course: Open, random: Random): Promise<void> {
    const { start, key, caller } = course;
    const send = (data: object, calls: Call[]): Promise<Call> =>
      this.call(calls, () => this.clients()[caller].start(this.build, 'loops', { ...data }, key));
    const isKeyed = key !== undefined;
    if (random.chance(0.1)) {
      const wrong = await send({ ...start, log: 'no list' }, []);
      expectRejected(wrong, INVALID);
    }
    const times = isKeyed && random.chance(0.3) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => send(start, course.calls)));
    const reply = course.calls.find(isAcknowledged)?.reply;
    if (reply !== undefined) {
      course.place = firstPlace(reply);
      if (isKeyed && random.chance(0.1)) {
        expectRejected(await send({ ...start, cycles: 1 }, []), KEY_REUSED);
      }
    } else if (!isKeyed) {
      // Without a key it is unknowable whether the instance exists.
      this.open.splice(this.open.indexOf(course), 1);
    }
  }

  private async read(course: Course): Promise<Reading | undefined> {
    const calls: Call[] = [];
    const { sent, answered, reply } = await this.call(calls, () =>
      this.clients().client.read(course.place?.process ?? ''),
    );
    if (reply?.status !== 200) {
      return undefined;
    }
    const body = reply.body as {
      state: string;
      data: { log: string[] };
      tokens: { uuid: string; state: string; visit: number; bpmnElementId: string }[];
    };
    const tokens = new Map(
      body.tokens.map(({ uuid, state, bpmnElementId }) => [uuid, { state, node: bpmnElementId }]),
    );
    const visits = new Map(body.tokens.map(({ uuid, visit }) => [uuid, visit]));
    const reading: Reading = { sent, answered, state: body.state, log: body.data.log, tokens, visits };
    course.readings.push(reading);
    return reading;
  }

  /** Executes an action that is open according to the given reading. */
  private async forward(course: Open, reading: Reading, random: Random): Promise<void> {
    await this.act(course, this.operation(course, drawActive(reading, random), random, random.chance(0.6)));
  }

  /** Sends two identical concurrent calls with one key. */
  private async sendTwice(course: Open, reading: Reading, random: Random): Promise<void> {
    const operation = this.operation(course, drawActive(reading, random), random, true);
    await Promise.all([this.act(course, operation), this.act(course, operation)]);
  }

  /**
   * Sends two identical concurrent calls without a key while no other caller acts. They name the visit, so only one is
   * executed.
   */
  private async doubleClick(course: Open, reading: Reading, random: Random): Promise<void> {
    if (course.acting > 1) {
      return;
    }
    course.alone = true;
    const operation = this.operation(course, drawActive(reading, random), random, false);
    const visit = reading.visits.get(operation.token);
    await Promise.all([1, 2].map(() => this.act(course, operation, {}, visit)));
    course.alone = false;
  }

  /** Sends two different concurrent actions for one token. */
  private async actConcurrently(course: Open, reading: Reading, random: Random): Promise<void> {
    const place = drawActive(reading, random);
    const both = [true, false].map((isKeyed) => this.operation(course, place, random, isKeyed));
    await Promise.all(both.map((operation) => this.act(course, operation)));
  }

  /** Repeats a call with a key, regardless of its previous outcome. */
  private async repeat(course: Open, _reading: Reading, random: Random): Promise<void> {
    const keyed = course.operations.filter(({ key, wrong }) => key !== undefined && wrong === undefined);
    if (keyed.length > 0) {
      await this.act(course, random.pick(keyed));
    }
  }

  /** Executes a random action on a random token, ended ones included. Most are rejected. */
  private async actRandomly(course: Open, reading: Reading, random: Random): Promise<void> {
    const place = { token: random.pick([...reading.tokens.keys()]), task: random.pick(TASKS) };
    await this.act(course, this.operation(course, place, random, random.chance(0.5)));
  }

  /** Sends data outside the action's keys. */
  private async sendInvalid(course: Open, reading: Reading, random: Random): Promise<void> {
    const operation = this.operation(course, drawActive(reading, random), random, random.chance(0.5));
    operation.wrong = INVALID;
    expectRejected(await this.act(course, operation, { foreign: 1 }), INVALID);
  }

  /** Reuses the key of an acknowledged call with a different body. */
  private async reuseKey(course: Open, _reading: Reading, random: Random): Promise<void> {
    const first = course.operations.filter(
      ({ key, calls }) => key !== undefined && calls.some(isAcknowledged),
    );
    if (first.length > 0) {
      const { token, task, key, caller } = random.pick(first);
      const operation = { ...this.operation(course, { token, task }, random, true), key, caller };
      operation.wrong = KEY_REUSED;
      course.operations.splice(-1, 1, operation);
      expectRejected(await this.act(course, operation), KEY_REUSED);
    }
  }

  private operation(course: Course, place: Active, random: Random, isKeyed: boolean): Operation {
    this.values += 1;
    const value = `value-${this.values}`;
    const key = isKeyed ? value : undefined;
    const caller = random.pick(['client', 'other'] as const);
    const operation = { ...place, value, key, caller, wrong: undefined, calls: [] };
    course.operations.push(operation);
    return operation;
  }

  private act(course: Course, operation: Operation, more: object = {}, visit?: number): Promise<Call> {
    const { value, token, task, key, caller, calls } = operation;
    const place = { process: course.place?.process ?? '', token };
    const data = { [task]: value, ...more };
    return this.call(calls, () => this.clients()[caller].act(place, task, data, key, visit));
  }

  /** Records a call before it is sent, then its outcome. */
  private async call(calls: Call[], send: () => Promise<Reply>): Promise<Call> {
    const call: Call = { sent: performance.now(), answered: Infinity, reply: undefined };
    calls.push(call);
    try {
      const reply = await send();
      prove(reply.status < 500 || this.databaseMayFail, `answered ${reply.status}: ${reply.text}`);
      // A 500 means an unknown outcome; any other response is definite.
      if (reply.status !== 500) {
        Object.assign(call, { answered: performance.now(), reply });
      }
      this.acknowledged += Number(reply.status === 200);
      if (reply.status >= 500) {
        await sleep(UNREACHABLE_MS);
      }
    } catch (error) {
      if (!isConnectionLost(error)) {
        throw error;
      }
      await sleep(UNREACHABLE_MS);
    }
    return call;
  }
}

/** Picks an active token and the task at which it waits; any token of an ended instance. */
function drawActive({ tokens }: Reading, random: Random): Active {
  const active = [...tokens].filter(([, { state }]) => state === 'ACTIVE');
  const [token, { node }] = random.pick(active.length > 0 ? active : [...tokens]);
  return { token, task: TASKS.find((task) => task === node) ?? 'sign' };
}

/** Proves that an invalid call was rejected as expected, unless the database was unavailable. */
function expectRejected({ reply }: Call, { status, message }: { status: number; message: string }): void {
  const isRight = reply?.status === status && reply.body['message'] === message;
  prove(
    reply === undefined || reply.status === 503 || isRight,
    `an invalid call was answered ${reply?.status}: ${reply?.text}`,
  );
}
