import { useEffect, useRef, useState } from 'preact/hooks';
import { followInstance, ServiceError, type InstanceProgress } from '../../../client/src/index.js';
import { api, signIns } from '../app/session.js';

/** State of a progress stream. */
export interface Progress {
  /** Whether events arrive as they happen. False before the stream starts, in a hidden tab, and after the end. */
  isLive: boolean;
  /** Error of the last connection, or undefined. */
  error: unknown;
}

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/**
 * Follows the progress stream of an instance while the tab is visible. Reconnects with increasing delays.
 * @param uuid undefined to follow nothing
 * @param onProgress receives each event, and the instance after a reconnect, because events may have been missed
 */
export function useProgress(
  uuid: string | undefined,
  onProgress: (progress: InstanceProgress) => void,
): Progress {
  const [state, setState] = useState<Progress>({ isLive: false, error: undefined });
  const latest = useRef(onProgress);
  latest.current = onProgress;

  useEffect(
    () =>
      uuid === undefined
        ? undefined
        : followWhileVisible(uuid, setState, (progress) => latest.current(progress)),
    [uuid, signIns.value],
  );

  return state;
}

/** @returns a function that stops it */
function followWhileVisible(
  uuid: string,
  setState: (state: Progress) => void,
  onProgress: (progress: InstanceProgress) => void,
): () => void {
  let controller = new AbortController();
  let isReconnect = false;
  let hasEnded = false;
  const fail = (error: unknown): void => {
    isReconnect = true;
    setState({ isLive: false, error });
  };
  const start = (): void => {
    controller.abort();
    if (document.hidden || hasEnded) {
      setState({ isLive: false, error: undefined });
      return;
    }
    controller = new AbortController();
    void follow(uuid, controller.signal, fail, (progress) => {
      hasEnded = progress.event === 'end';
      setState({ isLive: !hasEnded, error: undefined });
      if (isReconnect || progress.event !== 'instance') {
        onProgress(progress);
      }
      isReconnect = true;
    });
  };
  document.addEventListener('visibilitychange', start);
  start();
  return () => {
    document.removeEventListener('visibilitychange', start);
    controller.abort();
  };
}

/** Follows until the instance ends, the service refuses, or `signal` aborts. */
async function follow(
  uuid: string,
  signal: AbortSignal,
  fail: (error: unknown) => void,
  onProgress: (progress: InstanceProgress) => void,
): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      for await (const progress of followInstance(api(), uuid, { signal, retries: 0 })) {
        pauseMs = FIRST_PAUSE_MS;
        onProgress(progress);
      }
      return;
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      // A TypeError is a broken connection, which is normal: the next one may succeed.
      fail(error instanceof TypeError ? undefined : error);
      if (!isTransient(error)) {
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

function isTransient(error: unknown): boolean {
  return (
    !(error instanceof ServiceError) || error.status === TOO_MANY_REQUESTS || error.status >= SERVER_ERROR
  );
}
