import { useEffect, useRef, useState } from 'preact/hooks';
import { followInstance, type InstanceProgress } from '../../../clients/typescript/src/index.js';
import { api } from '../app/session.js';

/** How a stream of progress is. */
export interface Progress {
  /** Events come as they happen. False before the stream has begun, in a tab that nobody sees, and when it has ended. */
  isLive: boolean;
  error: unknown;
}

/**
 * Follows an instance by its stream while the tab is seen. A tab that is seen again goes on behind the last event.
 * @param uuid undefined to follow nothing
 * @param tell is called with each event
 */
export function useProgress(uuid: string | undefined, tell: (progress: InstanceProgress) => void): Progress {
  const [state, setState] = useState<Progress>({ isLive: false, error: undefined });
  const told = useRef(tell);
  told.current = tell;

  useEffect(
    () =>
      uuid === undefined
        ? undefined
        : followWhileVisible(uuid, setState, (progress) => told.current(progress)),
    [uuid],
  );

  return state;
}

/** @returns what ends it */
function followWhileVisible(
  uuid: string,
  setState: (state: Progress) => void,
  tell: (progress: InstanceProgress) => void,
): () => void {
  let over = new AbortController();
  let last: string | undefined;
  let hasEnded = false;
  const follow = async (): Promise<void> => {
    const { signal } = over;
    const from = last === undefined ? {} : { lastEventId: last };
    try {
      for await (const progress of followInstance(api(), uuid, { signal, ...from })) {
        last = progress.id;
        hasEnded = progress.event === 'end';
        setState({ isLive: !hasEnded, error: undefined });
        tell(progress);
      }
    } catch (error) {
      if (!signal.aborted) {
        setState({ isLive: false, error });
      }
    }
  };
  const begin = (): void => {
    over.abort();
    if (!document.hidden && !hasEnded) {
      over = new AbortController();
      void follow();
    } else {
      setState({ isLive: false, error: undefined });
    }
  };
  document.addEventListener('visibilitychange', begin);
  begin();
  return () => {
    document.removeEventListener('visibilitychange', begin);
    over.abort();
  };
}
