import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { HistoryEvent, InstanceResponse } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import { usePages, type Pages } from '../../live/use-pages.js';
import { useProgress } from '../../live/use-progress.js';

/** An instance as it is now, and what it has done. */
export interface LiveInstance {
  answer: Answer<InstanceResponse>;
  /** Newest first. */
  trail: Pages<HistoryEvent>;
  isLive: boolean;
}

const EVENTS_IN_PAGE = 200;
/** Of an instance with more steps, the newest ones are counted; the others are read when somebody asks for them. */
const COUNTED = 1_000;
/** Steps come in quick succession; the instance is read once for all that come within this time. */
const GATHER_MS = 300;

/** Reads an instance, and reads it again when its stream tells of a step. */
export function useInstance(uuid: string): LiveInstance {
  const answer = useAnswer(
    async (signal) =>
      (await api().getProcessInstance({ path: { uuid }, query: { include: 'children' }, signal })).data,
    [uuid],
  );
  const stored = useStoredTrail(uuid);
  const [told, setTold] = useState<readonly HistoryEvent[]>([]);
  useEffect(() => setTold([]), [uuid]);
  const gathered = useGathered(answer.reload);
  const isThere = answer.data !== undefined;
  const { isLive, error } = useProgress(isThere ? uuid : undefined, (progress) => {
    if (progress.event === 'history') {
      setTold((before) => [progress.data, ...before].slice(0, COUNTED));
    }
    if (progress.event === 'instance') {
      stored.reload();
    }
    gathered();
  });
  return {
    answer: { ...answer, error: answer.error ?? error },
    trail: { ...stored, items: merged(told, stored.items) },
    isLive,
  };
}

function useStoredTrail(uuid: string): Pages<HistoryEvent> {
  const trail = usePages<HistoryEvent>(
    async (next, signal) => {
      const before = next === undefined ? {} : { before: Number(next) };
      const { data } = await api().getProcessInstanceHistory({
        path: { uuid },
        query: { limit: EVENTS_IN_PAGE, ...before },
        signal,
      });
      return { items: data.events, next: data.next === null ? null : String(data.next) };
    },
    [uuid],
  );
  const { hasMore, isLoading, items, more, error } = trail;
  useEffect(() => {
    if (hasMore && !isLoading && error === undefined && items.length < COUNTED) {
      more();
    }
  }, [hasMore, isLoading, items.length]);
  return trail;
}

/** What the stream told before the stored trail was read is in both. */
function merged(told: readonly HistoryEvent[], stored: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const newest = stored[0]?.seq ?? 0;
  const known = new Set<number>();
  const added = told
    .filter(({ seq }) => seq > newest && !known.has(seq) && known.add(seq))
    .toSorted((one, other) => other.seq - one.seq);
  return added.length === 0 ? stored : [...added, ...stored];
}

/** Calls it once for all calls that come within {@link GATHER_MS}. */
function useGathered(act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      act();
    }, GATHER_MS);
  }, [act]);
}
