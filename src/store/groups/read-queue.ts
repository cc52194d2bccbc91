import { setImmediate } from 'node:timers/promises';
import { currentSpan, inSharedSpan } from '../../platform/observability/tracing/spans.js';
import { isDatabaseFailure } from '../database.errors.js';
import { GroupQueue, type GroupLimits, type Waiting } from './group-queue.js';
import { groupedBy } from '#engine/support';

const LONGEST_TURN_MS = 5;

/** Reads for one who asks. */
export type SharedRead<Part, Result> = (part: Part) => Promise<Result>;

export interface ReadKind<Part, Result> {
  /**
   * Reads for several with as many statements as for one.
   * @param since when the first of them came, on the clock of `performance.now()`
   */
  read(parts: readonly Part[], since: number): Promise<readonly Result[]>;
  /** Equal for those who get one result. */
  keyOf(part: Part): string;
}

interface Reader<Part, Result> extends Waiting {
  part: Part;
  answer: (result: Result) => void;
}

export class ReadQueue<Part, Result> {
  private readonly queue: GroupQueue<Reader<Part, Result>>;

  constructor(
    limits: GroupLimits,
    private readonly kind: ReadKind<Part, Result>,
  ) {
    this.queue = new GroupQueue(limits, (readers) =>
      this.readAll([...groupedBy(readers, ({ part }) => this.kind.keyOf(part)).values()]),
    );
  }

  /** @throws DatabaseOverloadedError when too many wait, and whatever reading does */
  add(part: Part): Promise<Result> {
    return new Promise((answer, refuse) => {
      this.queue.add({ part, since: performance.now(), span: currentSpan(), answer, refuse });
    });
  }

  /**
   * Never rejects.
   * @param asked who asks for the same, the first to come in front
   */
  private async readAll(asked: readonly (readonly Reader<Part, Result>[])[]): Promise<void> {
    const firsts = asked.flatMap(([first]) => first ?? []);
    try {
      const spans = asked.flatMap((same) => same.map(({ span }) => span));
      const results = await inSharedSpan('shared reading', spans, () =>
        this.kind.read(
          firsts.map(({ part }) => part),
          Math.min(...firsts.map(({ since }) => since)),
        ),
      );
      await answerAll(asked, results);
    } catch (error) {
      if (asked.length === 1 || isDatabaseFailure(error)) {
        asked.forEach((same) => same.forEach(({ refuse }) => refuse(error)));
        return;
      }
      // Nobody knows whose fault it was.
      for (const same of asked) {
        await this.readAll([same]);
      }
    }
  }
}

/** What readers make of their answers can take long, and others shall not wait for all of them. */
async function answerAll<Result>(
  asked: readonly (readonly Pick<Reader<unknown, Result>, 'answer'>[])[],
  results: readonly Result[],
): Promise<void> {
  let begun = performance.now();
  for (const [answer, result] of asked.flatMap((same, index) =>
    same.map((reader) => [reader.answer, results[index] as Result] as const),
  )) {
    answer(result);
    // Comes when all that goes on by itself has gone on.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    if (performance.now() - begun > LONGEST_TURN_MS) {
      await setImmediate();
      begun = performance.now();
    }
  }
}
