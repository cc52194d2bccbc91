import type { ServerResponse } from 'node:http';
import { Bulkhead } from '../concurrency/bulkhead.js';
import type { Limit } from '../config/env.js';
import { UnreadableBodyError } from '../errors/request.errors.js';
import { yieldEventLoop } from '#engine/support';
import { TooManyCallerRequestsError } from './rate-limit.errors.js';

/** Maximum number of concurrent requests of one caller; 0 means no limit. */
interface CallerLimits {
  /** Including requests that wait. Further requests are rejected. */
  readonly underWay: Limit;
  /** Further requests wait. */
  readonly atWork: number;
}

/** Limits the requests of each caller that are not answered yet, and processes a few of them at the same time, in order. */
export class RequestsUnderWay {
  readonly all: Bulkhead;
  readonly atWork: Bulkhead;

  constructor({ underWay, atWork }: CallerLimits) {
    const refuse = (): Error => new TooManyCallerRequestsError(underWay);
    this.all = new Bulkhead({ capacity: underWay.max || Infinity, queue: 0 }, refuse);
    this.atWork = new Bulkhead({ capacity: atWork || Infinity });
  }

  /**
   * Counts a request until its response or its connection is closed.
   * @param queues whether the request needs a place among those that are processed
   * @returns undefined when the request can be processed immediately; otherwise a promise, which never settles if the response is closed first
   * @throws TooManyCallerRequestsError
   * @throws UnreadableBodyError when the connection is already closed, because no further event would report it
   */
  enter(key: string, response: ServerResponse, queues: boolean): Promise<void> | undefined {
    if (response.closed || response.req.socket.destroyed) {
      throw new UnreadableBodyError('The connection is closed.');
    }
    const counted = this.all.enter({ key });
    const place = queues ? this.atWork.enter({ key }) : undefined;
    response.once('close', () => {
      place?.leave();
      counted.leave();
    });
    const admitted = place?.admitted;
    // Node can read many requests in one iteration of the event loop. The first one of each caller does not wait for the next iteration.
    const ready =
      this.all.occupied(key) === 1 ? admitted : (admitted?.then(yieldEventLoop) ?? yieldEventLoop());
    return ready?.then(() => (response.closed ? new Promise(() => undefined) : undefined));
  }
}
