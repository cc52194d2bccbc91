import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { HistoryEvent, InstanceResponse } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import { usePages, type Pages } from '../../live/use-pages.js';
import { useProgress } from '../../live/use-progress.js';

/** Current state and history of an instance. */
export interface LiveInstance {
  answer: Answer<InstanceResponse>;
  /** Newest first. */
  trail: Pages<HistoryEvent>;
  isLive: boolean;
}

const EVENTS_IN_PAGE = 200;
/** Number of newest events that are loaded and counted. Older ones are loaded on demand. */
const COUNTED = 1_000;
/** Interval in which several steps cause only one reload. */
const THROTTLE_MS = 300;

/** Loads an instance, again after each step reported by its progress stream. */
export function useInstance(uuid: string): LiveInstance {
  const answer = useAnswer(
    async (signal) =>
      (await api().getProcessInstance({ path: { uuid }, query: { include: 'children' }, signal })).data,
    [uuid],
  );
  const stored = useStoredTrail(uuid);
  const [streamed, setStreamed] = useState<readonly HistoryEvent[]>([]);
  useEffect(() => setStreamed([]), [uuid]);
  const reload = useThrottled(answer.reload);
  const isLoaded = answer.data !== undefined;
  const { isLive, error } = useProgress(isLoaded ? uuid : undefined, (progress) => {
    if (progress.event === 'history') {
      setStreamed((before) => [progress.data, ...before].slice(0, COUNTED));
    }
    if (progress.event === 'instance') {
      stored.reload();
    }
    reload();
  });
  return {
    answer: { ...answer, error: answer.error ?? error },
    trail: { ...stored, items: merged(streamed, stored.items) },
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

/** Merges streamed and stored events, which can overlap. */
function merged(streamed: readonly HistoryEvent[], stored: readonly HistoryEvent[]): readonly HistoryEvent[] {
  const newest = stored[0]?.seq ?? 0;
  const known = new Set<number>();
  const added = streamed
    .filter(({ seq }) => seq > newest && !known.has(seq) && known.add(seq))
    .toSorted((one, other) => other.seq - one.seq);
  return added.length === 0 ? stored : [...added, ...stored];
}

/** Combines calls within {@link THROTTLE_MS} into one. */
function useThrottled(act: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      act();
    }, THROTTLE_MS);
  }, [act]);
}
