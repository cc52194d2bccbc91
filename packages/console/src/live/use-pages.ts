import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { signIns } from '../app/session.js';
import { outcomeOf, type Outcome } from './outcome.js';

/** Page of a list; `next` is the cursor of the next page, or null on the last one. */
export interface ListPage<T> {
  items: readonly T[];
  next: string | null;
}

/** Pages of a list loaded so far. */
export interface Pages<T> {
  items: readonly T[];
  error: unknown;
  isLoading: boolean;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
}

interface Known<T> {
  items: readonly T[];
  next: string | null | undefined;
  error: unknown;
  isLoading: boolean;
}

const NOTHING = { items: [], next: undefined, error: undefined, isLoading: true };

/**
 * Loads a list page by page: the first page immediately and whenever one of `inputs` changes, the others on request.
 * @param ask loads a page by the `next` of the previous one; undefined for the first page
 * @param inputs values that the list depends on, such as filters
 */
export function usePages<T>(
  ask: (next: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>,
  inputs: readonly unknown[],
): Pages<T> {
  const [known, setKnown] = useState<Known<T>>(NOTHING);
  const [reloads, setReloads] = useState(0);
  const latestAsk = useRef(ask);
  latestAsk.current = ask;
  const controller = useRef(new AbortController());

  const read = useCallback(async (next: string | undefined, signal: AbortSignal): Promise<void> => {
    setKnown((before) => ({ ...before, error: undefined, isLoading: true }));
    const outcome = await outcomeOf(() => latestAsk.current(next, signal));
    if (!signal.aborted) {
      setKnown((before) => ({ ...withOutcome(before, outcome, next === undefined), isLoading: false }));
    }
  }, []);

  useEffect(() => setKnown(NOTHING), inputs);
  useEffect(() => {
    const own = new AbortController();
    controller.current = own;
    void read(undefined, own.signal);
    return () => own.abort();
  }, [...inputs, reloads, signIns.value]);

  const { next, ...shown } = known;
  return {
    ...shown,
    hasMore: typeof next === 'string',
    more: () => void (typeof next === 'string' && !known.isLoading && read(next, controller.current.signal)),
    reload: () => setReloads((before) => before + 1),
  };
}

function withOutcome<T>(before: Known<T>, outcome: Outcome<ListPage<T>>, isFirst: boolean): Known<T> {
  if ('error' in outcome) {
    return { ...before, error: outcome.error };
  }
  const { items, next } = outcome.data;
  return { ...before, items: isFirst ? items : [...before.items, ...items], next };
}
