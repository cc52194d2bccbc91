import { NoAnswerError, ServiceError } from './errors.js';
import type { SvcClient } from './generated/sdk.gen.js';
import type { HistoryEvent, InstanceResponse, ProcessInstanceState } from './generated/types.gen.js';

/** Progress of a process instance: first its state, then each event of its history, then its end. */
export type InstanceProgress =
  | { event: 'instance'; id: string; data: InstanceResponse }
  | { event: 'history'; id: string; data: HistoryEvent }
  | { event: 'end'; id: string; data: { uuid: string; state: ProcessInstanceState } };

/** Options of {@link followInstance}. */
export interface FollowOptions {
  /** Aborts the stream. */
  signal?: AbortSignal;
  /** `id` of the last known event, after which the stream resumes. */
  lastEventId?: string;
  /** Number of consecutive failed connections before the error is thrown. Default: 5. */
  retries?: number;
  /** Delay before reconnecting. Default: 1,000. */
  retryDelayMs?: number;
}

const DEFAULTS = { retries: 5, retryDelayMs: 1_000 };
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/**
 * Follows a process instance until it ends. Reconnects and resumes after the last event, so each event is yielded exactly once.
 * @throws ServiceError when the caller may not read the instance
 * @throws NoAnswerError when the service cannot be reached after `retries`
 */
export async function* followInstance(
  svc: SvcClient,
  uuid: string,
  options: FollowOptions = {},
): AsyncGenerator<InstanceProgress, void, undefined> {
  const { signal, retries, retryDelayMs } = { ...DEFAULTS, ...options };
  let last = options.lastEventId;
  for (let failures = 0; !isAborted(signal);) {
    const connection = await open(svc, uuid, last, signal);
    for await (const progress of connection.events) {
      failures = 0;
      last = progress.id;
      yield progress;
      if (progress.event === 'end') {
        return;
      }
    }
    const error = isAborted(signal) ? undefined : connection.error();
    failures += error === undefined ? 0 : 1;
    if (failures > retries || !isTransient(error)) {
      throw error;
    }
    await pause(retryDelayMs, signal);
  }
}

interface Connection {
  events: AsyncIterable<InstanceProgress>;
  /** Error that ended the connection, if any. */
  error: () => unknown;
}

async function open(
  svc: SvcClient,
  uuid: string,
  last: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  let error: unknown;
  const received: unknown[] = [];
  const { stream } = await svc.followProcessInstance({
    path: { uuid },
    ...(last === undefined ? {} : { headers: { 'Last-Event-ID': last } }),
    ...(signal === undefined ? {} : { signal }),
    sseMaxRetryAttempts: 1,
    onSseError: (failure) => {
      error = failure;
    },
    // The stream yields only data, so this collects the whole events first. Comments have no data.
    onSseEvent: ({ event, id, data }) => data !== undefined && received.push({ event, id, data }),
  });
  async function* events(): AsyncGenerator<InstanceProgress, void, undefined> {
    for await (const _ of stream) {
      yield* received.splice(0) as InstanceProgress[];
    }
  }
  return { events: events(), error: () => error };
}

/** Whether a retry may succeed. `fetch` throws a `TypeError` for broken connections. */
function isTransient(error: unknown): boolean {
  return error instanceof ServiceError
    ? error.status === TOO_MANY_REQUESTS || error.status >= SERVER_ERROR
    : error === undefined || error instanceof NoAnswerError || error instanceof TypeError;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
