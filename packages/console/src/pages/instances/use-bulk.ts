import { useEffect, useRef, useState } from 'preact/hooks';
import { operate, type Done, type OperationName } from './operations.js';
import { RateLimitPause } from './rate-limit-pause.js';

/** State of one instance in a bulk operation. A started call is never canceled, because its outcome would be unknown. */
export type BulkState =
  | { is: 'waiting' }
  | { is: 'busy' }
  | { is: 'done'; done: Done }
  | { is: 'failed'; error: unknown }
  | { is: 'skipped' };

/** Bulk operation. */
export interface Bulk {
  isRunning: boolean;
  isOver: boolean;
  /** Length of the current rate limit pause; 0 without one. */
  restSeconds: number;
  states: ReadonlyMap<string, BulkState>;
  run: (name: OperationName, data?: object) => Promise<void>;
  /** Starts no more calls; running ones finish. */
  stop: () => void;
}

/** Number of concurrent calls, low so that other users are not slowed down. */
const CONCURRENCY = 4;

/** Runs an operation on many instances and keeps the state of each. */
export function useBulk(uuids: readonly string[]): Bulk {
  const [phase, setPhase] = useState<'before' | 'running' | 'over'>('before');
  const [states, setStates] = useState<ReadonlyMap<string, BulkState>>(new Map());
  const [restSeconds, setRest] = useState(0);
  const over = useRef(new AbortController());
  useEffect(() => () => over.current.abort(), []);
  const put = (uuid: string, state: BulkState): void =>
    setStates((before) => new Map(before).set(uuid, state));

  const run = async (name: OperationName, data?: object): Promise<void> => {
    const { signal } = over.current;
    const left = [...uuids];
    const pause = new RateLimitPause(signal, setRest);
    setPhase('running');
    setStates(new Map(uuids.map((uuid) => [uuid, { is: 'waiting' }])));
    const work = async (): Promise<void> => {
      for (let uuid = left.shift(); uuid !== undefined; uuid = left.shift()) {
        if (signal.aborted) {
          put(uuid, { is: 'skipped' });
        } else {
          put(uuid, { is: 'busy' });
          put(uuid, await stateAfter(pause, () => operate(name, uuid, data)));
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    setRest(0);
    setPhase('over');
  };
  return {
    isRunning: phase === 'running',
    isOver: phase === 'over',
    restSeconds,
    states,
    run,
    stop: () => over.current.abort(),
  };
}

async function stateAfter(pause: RateLimitPause, call: () => Promise<Done>): Promise<BulkState> {
  try {
    const result = await pause.run(call);
    return result === undefined ? { is: 'skipped' } : { is: 'done', done: result.answer };
  } catch (error) {
    return { is: 'failed', error };
  }
}
