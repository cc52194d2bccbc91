import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { signIns } from '../app/session.js';
import { outcomeOf } from './outcome.js';
import { whileVisible } from './while-visible.js';

/** State of a request. Data of the previous response stays until the next one arrives. */
export interface Answer<T> {
  /** Newest response; undefined before the first one. */
  data: T | undefined;
  /** Error of the last request, or undefined. */
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

/** Options of {@link useAnswer}. */
export interface AnswerOptions {
  /** Milliseconds from a response to the next request, at least {@link MIN_REFRESH_MS}. Default: no refresh. */
  refreshMs?: number;
}

/** Minimum refresh interval. */
export const MIN_REFRESH_MS = 5_000;

interface Known<T> {
  data?: T;
  error?: unknown;
  isLoading: boolean;
}

/**
 * Sends a request when the component appears, when one of `inputs` changes, after a new sign-in, and every `refreshMs` while the
 * tab is visible. Drops outdated responses.
 * @param ask sends the request; the signal aborts it
 * @param inputs values that the request depends on
 */
export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { refreshMs }: AnswerOptions = {},
): Answer<T> {
  const [known, setKnown] = useState<Known<T>>({ isLoading: true });
  const [reloads, setReloads] = useState(0);
  const latestAsk = useRef(ask);
  latestAsk.current = ask;

  useEffect(() => {
    // Data of other inputs is not shown.
    setKnown({ isLoading: true });
  }, inputs);

  useEffect(() => {
    const controller = new AbortController();
    const once = async (): Promise<void> => {
      setKnown((before) => ({ ...before, isLoading: true }));
      const next = await outcomeOf(() => latestAsk.current(controller.signal));
      if (!controller.signal.aborted) {
        setKnown((before) => ({ ...before, error: undefined, ...next, isLoading: false }));
      }
    };
    const stop =
      refreshMs === undefined ? void once() : whileVisible(once, Math.max(refreshMs, MIN_REFRESH_MS));
    return () => {
      controller.abort();
      stop?.();
    };
  }, [...inputs, reloads, refreshMs, signIns.value]);

  const reload = useCallback(() => setReloads((before) => before + 1), []);
  return { data: known.data, error: known.error, isLoading: known.isLoading, reload };
}
