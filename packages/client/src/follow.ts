import { NoAnswerError, ServiceError } from './errors.js';
import type { SvcClient } from './generated/sdk.gen.js';
import type { HistoryEvent, InstanceResponse, ProcessInstanceState } from './generated/types.gen.js';

/** What a process instance does while it is followed: its state at the beginning, then each event of its history, then its end. */
export type InstanceProgress =
  | { event: 'instance'; id: string; data: InstanceResponse }
  | { event: 'history'; id: string; data: HistoryEvent }
  | { event: 'end'; id: string; data: { uuid: string; state: ProcessInstanceState } };

/** How to follow. */
export interface FollowOptions {
  /** Hangs up. */
  signal?: AbortSignal;
  /** `id` of the last event that is known; the stream goes on behind it. */
  lastEventId?: string;
  /** How often in a row a connection may fail before its error is thrown. Default: 5. */
  retries?: number;
  /** How long to wait before the connection is made again. Default: 1,000. */
  retryDelayMs?: number;
}

const DEFAULTS = { retries: 5, retryDelayMs: 1_000 };
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/**
 * Follows a process instance until it ends. A connection that ends before that is made again behind the last event, so nothing is
 * told twice and nothing is left out.
 * @throws ServiceError when the instance may not be read
 * @throws NoAnswerError when the service cannot be reached, after some tries
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
    if (failures > retries || !mayPass(error)) {
      throw error;
    }
    await pause(retryDelayMs, signal);
  }
}

interface Connection {
  events: AsyncIterable<InstanceProgress>;
  /** Why it ended, if not by the service. */
  error: () => unknown;
}

async function open(
  svc: SvcClient,
  uuid: string,
  last: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  let error: unknown;
  const told: unknown[] = [];
  const { stream } = await svc.followProcessInstance({
    path: { uuid },
    ...(last === undefined ? {} : { headers: { 'Last-Event-ID': last } }),
    ...(signal === undefined ? {} : { signal }),
    sseMaxRetryAttempts: 1,
    onSseError: (failure) => {
      error = failure;
    },
    // The stream itself yields no more than the data of the event that is told here before; a comment has none.
    onSseEvent: ({ event, id, data }) => data !== undefined && told.push({ event, id, data }),
  });
  async function* events(): AsyncGenerator<InstanceProgress, void, undefined> {
    for await (const _ of stream) {
      yield* told.splice(0) as InstanceProgress[];
    }
  }
  return { events: events(), error: () => error };
}

/** Whether the same request may be answered otherwise a little later. A connection that breaks is a `TypeError` of `fetch`. */
function mayPass(error: unknown): boolean {
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
