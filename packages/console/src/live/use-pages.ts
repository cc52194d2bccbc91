import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { signIns } from '../app/session.js';
import { outcomeOf, type Outcome } from './outcome.js';

/** A page of a list as the service answers it: `next` leads on, and is null on the last page. */
export interface ListPage<T> {
  items: readonly T[];
  next: string | null;
}

/** The pages of a list that were read so far. */
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
 * Reads a list page by page: the first one at once and whenever one of `inputs` changes, the others when they are asked for.
 * @param ask is given the `next` of the page before, undefined for the first page
 * @param inputs what the list depends on, such as filters
 */
export function usePages<T>(
  ask: (next: string | undefined, signal: AbortSignal) => Promise<ListPage<T>>,
  inputs: readonly unknown[],
): Pages<T> {
  const [known, setKnown] = useState<Known<T>>(NOTHING);
  const [turn, setTurn] = useState(0);
  const asked = useRef(ask);
  asked.current = ask;
  const over = useRef(new AbortController());

  const read = useCallback(async (next: string | undefined, signal: AbortSignal): Promise<void> => {
    setKnown((before) => ({ ...before, error: undefined, isLoading: true }));
    const outcome = await outcomeOf(() => asked.current(next, signal));
    if (!signal.aborted) {
      setKnown((before) => ({ ...withOutcome(before, outcome, next === undefined), isLoading: false }));
    }
  }, []);

  useEffect(() => setKnown(NOTHING), inputs);
  useEffect(() => {
    const mine = new AbortController();
    over.current = mine;
    void read(undefined, mine.signal);
    return () => mine.abort();
  }, [...inputs, turn, signIns.value]);

  const { next, ...shown } = known;
  return {
    ...shown,
    hasMore: typeof next === 'string',
    more: () => void (typeof next === 'string' && !known.isLoading && read(next, over.current.signal)),
    reload: () => setTurn((before) => before + 1),
  };
}

function withOutcome<T>(before: Known<T>, outcome: Outcome<ListPage<T>>, isFirst: boolean): Known<T> {
  if ('error' in outcome) {
    return { ...before, error: outcome.error };
  }
  const { items, next } = outcome.data;
  return { ...before, items: isFirst ? items : [...before.items, ...items], next };
}
