import { useEffect, useState } from 'preact/hooks';
import { signIns } from '../app/session.js';

/** Something that a person does by the service: one at a time. */
export interface Action<Args extends unknown[]> {
  run: (...args: Args) => Promise<void>;
  isBusy: boolean;
  /** Why the last one was refused; undefined when it was not. */
  error: unknown;
  /** Forgets the error. */
  clear: () => void;
}

/**
 * Makes an action of a call that changes something. What it is refused with is kept for an `ErrorNote`, not thrown.
 * @param act the call, and what follows when it was taken: a message, a reload
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
