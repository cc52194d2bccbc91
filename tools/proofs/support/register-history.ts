/** One operation of a caller on a boolean register, with the times of request and response. */
export interface RegisterOperation {
  kind: 'read' | 'write';
  /** The value written, or the value that the read returned. */
  value: boolean;
  sent: number;
  answered: number;
}

/**
 * Returns whether some order of the operations, each between its request and its response, explains every read value: the
 * search of Wing and Gong (1993) with Lowe's memory of configurations already tried.
 * @param initial value of the register before the first operation
 */
export function isLinearizable(history: readonly RegisterOperation[], initial: boolean): boolean {
  const pending = history.toSorted((a, b) => a.sent - b.sent);
  const failed = new Set<string>();
  // Depth-first with an explicit stack, since a history can exceed the call stack.
  const stack: { done: Set<number>; first: number; value: boolean }[] = [
    { done: new Set(), first: 0, value: initial },
  ];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    const { done, first, value } = state;
    if (first === pending.length) {
      return true;
    }
    const key = `${first}:${[...done].toSorted((a, b) => a - b).join()}:${value}`;
    if (failed.has(key)) {
      continue;
    }
    failed.add(key);
    for (const index of candidates(pending, done, first)) {
      const operation = pending[index]!;
      if (operation.kind === 'write' || operation.value === value) {
        stack.push(after({ done, first, value }, index, operation));
      }
    }
  }
  return false;
}

/** Returns the operations that may come next: not done, and sent before the response of every other pending operation. */
function candidates(
  pending: readonly RegisterOperation[],
  done: ReadonlySet<number>,
  first: number,
): number[] {
  const next: number[] = [];
  let earliestAnswer = Infinity;
  for (let index = first; index < pending.length && pending[index]!.sent <= earliestAnswer; index += 1) {
    if (!done.has(index)) {
      next.push(index);
      earliestAnswer = Math.min(earliestAnswer, pending[index]!.answered);
    }
  }
  return next;
}

function after(
  state: { done: ReadonlySet<number>; first: number; value: boolean },
  index: number,
  operation: RegisterOperation,
): { done: Set<number>; first: number; value: boolean } {
  const done = new Set(state.done).add(index);
  let { first } = state;
  while (done.delete(first)) {
    first += 1;
  }
  return { done, first, value: operation.kind === 'write' ? operation.value : state.value };
}
