import { useEffect, useRef, useState } from 'preact/hooks';
import { followInstance, ServiceError, type InstanceProgress } from '../../../client/src/index.js';
import { api, signIns } from '../app/session.js';

/** How a stream of progress is. */
export interface Progress {
  /** Events come as they happen. False before the stream has begun, in a tab that nobody sees, and when it has ended. */
  isLive: boolean;
  /** Why the last connection failed; undefined when it did not. */
  error: unknown;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/**
 * Follows an instance by its stream while the tab is seen. A connection that fails is made again, after growing pauses.
 * @param uuid undefined to follow nothing
 * @param tell is called with each event, and with the instance when a later connection begins: events before it may have been missed
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
    [uuid, signIns.value],
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
  let isAgain = false;
  let hasEnded = false;
  const fail = (error: unknown): void => {
    isAgain = true;
    setState({ isLive: false, error });
  };
  const begin = (): void => {
    over.abort();
    if (document.hidden || hasEnded) {
      setState({ isLive: false, error: undefined });
      return;
    }
    over = new AbortController();
    void follow(uuid, over.signal, fail, (progress) => {
      hasEnded = progress.event === 'end';
      setState({ isLive: !hasEnded, error: undefined });
      if (isAgain || progress.event !== 'instance') {
        tell(progress);
      }
      isAgain = true;
    });
  };
  document.addEventListener('visibilitychange', begin);
  begin();
  return () => {
    document.removeEventListener('visibilitychange', begin);
    over.abort();
  };
}

/** Follows until the instance ends, the service refuses it or `signal` hangs up. */
async function follow(
  uuid: string,
  signal: AbortSignal,
  fail: (error: unknown) => void,
  tell: (progress: InstanceProgress) => void,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      for await (const progress of followInstance(api(), uuid, { signal, retries: 0 })) {
        pauseMs = FIRST_PAUSE_MS;
        tell(progress);
      }
      return;
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      // A TypeError is a connection that broke, which says nothing about the next one.
      fail(error instanceof TypeError ? undefined : error);
      if (!mayPass(error)) {
        return;
      }
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs);
    });
    if (signal.aborted) {
      return;
    }
  }
}

function mayPass(error: unknown): boolean {
  return (
    !(error instanceof ServiceError) || error.status === TOO_MANY_REQUESTS || error.status >= SERVER_ERROR
  );
}
