import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { signIns } from '../app/session.js';
import { outcomeOf } from './outcome.js';
import { whileVisible } from './while-visible.js';

/** What a page knows of something it has asked for. What was known stays while it is asked for again. */
export interface Answer<T> {
  /** The newest answer; undefined before the first one. */
  data: T | undefined;
  /** Why the last question has no answer; undefined when it has one. */
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

/** How often to ask again. */
export interface AnswerOptions {
  /** Milliseconds between an answer and the next question, at least {@link LEAST_REFRESH_MS}; not again without it. */
  refreshMs?: number;
}

/** Nothing is asked for more often than this. */
export const LEAST_REFRESH_MS = 5_000;

interface Known<T> {
  data?: T;
  error?: unknown;
  isLoading: boolean;
}

/**
 * Asks for something when the component appears, whenever one of `inputs` changes and after a new sign-in, and again as often as
 * `refreshMs` says while the tab is seen. Answers that come too late are dropped.
 * @param ask is given a signal that hangs up
 * @param inputs what the question depends on
 */
export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { refreshMs }: AnswerOptions = {},
): Answer<T> {
  const [known, setKnown] = useState<Known<T>>({ isLoading: true });
  const [turn, setTurn] = useState(0);
  const asked = useRef(ask);
  asked.current = ask;

  useEffect(() => {
    // Of another question nothing is known.
    setKnown({ isLoading: true });
  }, inputs);

  useEffect(() => {
    const over = new AbortController();
    const once = async (): Promise<void> => {
      setKnown((before) => ({ ...before, isLoading: true }));
      const next = await outcomeOf(() => asked.current(over.signal));
      if (!over.signal.aborted) {
        setKnown((before) => ({ ...before, error: undefined, ...next, isLoading: false }));
      }
    };
    const stop =
      refreshMs === undefined ? void once() : whileVisible(once, Math.max(refreshMs, LEAST_REFRESH_MS));
    return () => {
      over.abort();
      stop?.();
    };
  }, [...inputs, turn, refreshMs, signIns.value]);

  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { data: known.data, error: known.error, isLoading: known.isLoading, reload };
}
