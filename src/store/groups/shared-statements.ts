import { currentSpan, withSpan } from '../../platform/observability/tracing/spans.js';

type Send<Part, Result> = (parts: readonly Part[]) => Promise<readonly Result[]>;

interface Asked {
  part: unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/**
 * Merges statements of one kind. Members of a group get their results at the same time and immediately request their next statements, which
 * are sent together.
 */
export class SharedStatements {
  /** Span of the transaction. A merged statement is a part of it, not of the spans of members. */
  private readonly span = currentSpan();
  private readonly kinds = new Map<string, { send: Send<never, unknown>; asked: Asked[] }>();

  ask<Part, Result>(kind: string, part: Part, send: Send<Part, Result>): Promise<Result> {
    if (this.kinds.size === 0) {
      // Runs after all pending promises. Not later, because an open transaction of the embedded file blocks everything else.
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
