import { currentSpan, withSpan } from '../../platform/observability/tracing/spans.js';

type Send<Part, Result> = (parts: readonly Part[]) => Promise<readonly Result[]>;

interface Asked {
  part: unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/**
 * Joins statements of one kind. Members of a group get their answers at one time, and go on to their next statements at
 * once; what they ask for by then is sent together.
 */
export class SharedStatements {
  /** Of the transaction: a statement for several is a part of that, and of none of theirs. */
  private readonly span = currentSpan();
  private readonly kinds = new Map<string, { send: Send<never, unknown>; asked: Asked[] }>();

  ask<Part, Result>(kind: string, part: Part, send: Send<Part, Result>): Promise<Result> {
    if (this.kinds.size === 0) {
      // After all that goes on by itself. Not later: the embedded file keeps others from all work while a transaction is open.
      process.nextTick(() => withSpan(this.span, () => this.send()));
    }
    const same = this.kinds.get(kind);
    const asked = same?.asked ?? [];
    if (same === undefined) {
      this.kinds.set(kind, { send, asked });
    }
    return new Promise<Result>((resolve, reject) => {
      asked.push({ part, resolve, reject });
    });
  }

  private send(): void {
    const kinds = [...this.kinds.values()];
    this.kinds.clear();
    for (const { send, asked } of kinds) {
      send(asked.map(({ part }) => part as never)).then(
        (results) => asked.forEach(({ resolve }, index) => resolve(results[index] as never)),
        (error: unknown) => asked.forEach(({ reject }) => reject(error)),
      );
    }
  }
}
