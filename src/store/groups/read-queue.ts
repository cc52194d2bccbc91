import { currentSpan, inSharedSpan } from '../../platform/observability/tracing/spans.js';
import { isDatabaseFailure } from '../database.errors.js';
import { GroupQueue, type GroupLimits, type Waiting } from './group-queue.js';
import { groupedBy, yieldAfterSlice } from '#engine/support';

/** Reads for one caller. */
export type SharedRead<Part, Result> = (part: Part) => Promise<Result>;

export interface ReadKind<Part, Result> {
  /**
   * Reads for several callers with as many statements as for one.
   * @param since when the first of them arrived, on the clock of `performance.now()`
   */
  read(parts: readonly Part[], since: number): Promise<readonly Result[]>;
  /** Equal for callers that share one result. */
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

  /** @throws DatabaseOverloadedError when too many callers wait, and what reading throws */
  add(part: Part): Promise<Result> {
    return new Promise((answer, reject) => {
      this.queue.add({ part, since: performance.now(), span: currentSpan(), answer, reject });
    });
  }

  /**
   * Never rejects.
   * @param asked readers by key, each list in order of arrival
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
        asked.forEach((same) => same.forEach(({ reject }) => reject(error)));
        return;
      }
      // Any reader may have caused the failure.
      for (const same of asked) {
        await this.readAll([same]);
      }
    }
  }
}

/** Answers readers one by one, and yields the event loop when they take long to process their results. */
async function answerAll<Result>(
  asked: readonly (readonly Pick<Reader<unknown, Result>, 'answer'>[])[],
  results: readonly Result[],
): Promise<void> {
  let begun = performance.now();
  for (const [answer, result] of asked.flatMap((same, index) =>
    same.map((reader) => [reader.answer, results[index] as Result] as const),
  )) {
    answer(result);
    // Resolves after all pending promises.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    begun = await yieldAfterSlice(begun);
  }
}
