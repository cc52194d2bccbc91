import { useEffect, useRef, useState } from 'preact/hooks';
import { operate, type Done, type OperationName } from './operations.js';
import { Patience } from './patience.js';

/** How it stands with one of many. One that was begun is never given up: only the service knows what comes of it. */
export type Standing =
  | { is: 'waiting' }
  | { is: 'busy' }
  | { is: 'done'; done: Done }
  | { is: 'failed'; error: unknown }
  | { is: 'left-out' };

/** Something that is done to many instances. */
export interface Bulk {
  isRunning: boolean;
  isOver: boolean;
  /** For how many seconds the service has asked to wait; 0 where it takes calls. */
  restSeconds: number;
  standings: ReadonlyMap<string, Standing>;
  run: (name: OperationName, data?: object) => Promise<void>;
  /** Begins no more; what was begun goes on to its end. */
  stop: () => void;
}

/** So many at a time: others want the service, too. */
const AT_ONCE = 4;

/** Does something to each of many instances, and keeps what came of each. */
export function useBulk(uuids: readonly string[]): Bulk {
  const [phase, setPhase] = useState<'before' | 'running' | 'over'>('before');
  const [standings, setStandings] = useState<ReadonlyMap<string, Standing>>(new Map());
  const [restSeconds, setRest] = useState(0);
  const over = useRef(new AbortController());
  useEffect(() => () => over.current.abort(), []);
  const put = (uuid: string, standing: Standing): void =>
    setStandings((before) => new Map(before).set(uuid, standing));

  const run = async (name: OperationName, data?: object): Promise<void> => {
    const { signal } = over.current;
    const left = [...uuids];
    const patience = new Patience(signal, setRest);
    setPhase('running');
    setStandings(new Map(uuids.map((uuid) => [uuid, { is: 'waiting' }])));
    const work = async (): Promise<void> => {
      for (let uuid = left.shift(); uuid !== undefined; uuid = left.shift()) {
        if (signal.aborted) {
          put(uuid, { is: 'left-out' });
        } else {
          put(uuid, { is: 'busy' });
          put(uuid, await standingOf(patience, () => operate(name, uuid, data)));
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setRest(0);
    setPhase('over');
  };
  return {
    isRunning: phase === 'running',
    isOver: phase === 'over',
    restSeconds,
    standings,
    run,
    stop: () => over.current.abort(),
  };
}

async function standingOf(patience: Patience, call: () => Promise<Done>): Promise<Standing> {
  try {
    const asked = await patience.ask(call);
    return asked === undefined ? { is: 'left-out' } : { is: 'done', done: asked.answer };
  } catch (error) {
    return { is: 'failed', error };
  }
}
