import { useEffect, useState } from 'preact/hooks';
import { signIns } from '../app/session.js';

/** User action that calls the service, one call at a time. */
export interface Action<Args extends unknown[]> {
  run: (...args: Args) => Promise<void>;
  isBusy: boolean;
  /** Error of the last run, or undefined. */
  error: unknown;
  clear: () => void;
}

/**
 * Wraps a call that changes something. Keeps its error for an `ErrorNote` instead of throwing it.
 * @param act the call and what follows on success, such as a message or a reload
 */
export function useAction<Args extends unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({
    isBusy: false,
    error: undefined,
  });
  const clear = (): void =>
    setState((before) => (before.error === undefined ? before : { ...before, error: undefined }));
  useEffect(clear, [signIns.value]);
  return {
    ...state,
    clear,
    run: async (...args) => {
      if (state.isBusy) {
        return;
      }
      setState({ isBusy: true, error: undefined });
      try {
        await act(...args);
        setState({ isBusy: false, error: undefined });
      } catch (error) {
        setState({ isBusy: false, error });
      }
    },
  };
}
