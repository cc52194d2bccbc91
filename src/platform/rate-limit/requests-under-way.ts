import type { ServerResponse } from 'node:http';
import { UnreadableBodyError } from '../errors/request.errors.js';
import type { Limit } from '../config/env.js';
import { useOf, type LimitUse } from '../observability/metrics/metrics.js';
import { turnWithRoom } from '#engine/support';
import { TooManyCallerRequestsError } from './rate-limit.errors.js';

const GONE = 'The connection is closed.';

/** The requests of one caller that are not answered yet. */
interface Caller {
  count: number;
  readonly atWork: Set<ServerResponse>;
  /** In the order in which they came: what begins their work. */
  readonly waiting: Map<ServerResponse, () => void>;
}

/** How many requests of one caller are taken; 0 is no limit. */
interface CallerLimits {
  /** At work or waiting. */
  readonly underWay: Limit;
  /** At work at the same time; the others wait. */
  readonly atWork: number;
}

/** Counts the requests of each caller that are not answered yet; works on a few at a time, in order. */
export class RequestsUnderWay {
  private readonly callers = new Map<string, Caller>();

  constructor(private readonly limits: CallerLimits) {}

  get use(): LimitUse {
    return useOf([...this.callers.values()].map(({ count }) => count));
  }

  /** Of these, those that are worked on in turn. */
  get useAtWork(): LimitUse {
    return useOf([...this.callers.values()].map(({ atWork }) => atWork.size));
  }

  /**
   * Counts a request until its response or its connection is closed.
   * @param takesTurn whether it waits for its turn; not one that waits for others anyway
   * @returns undefined when it is at its turn at once; otherwise when it is, and never when it is closed before
   * @throws TooManyCallerRequestsError
   * @throws UnreadableBodyError when it is closed already, which nobody would tell again
   */
  enter(key: string, response: ServerResponse, takesTurn: boolean): Promise<void> | undefined {
    if (response.closed || response.req.socket.destroyed) {
      throw new UnreadableBodyError(GONE);
    }
    const caller = this.counted(key);
    response.once('close', () => this.left(key, caller, response));
    const turn = takesTurn ? this.turnOf(caller, response) : undefined;
    // Many requests can be read in one turn of the event loop. The first one of each caller goes before.
    const room = caller.count === 1 ? turn : (turn?.then(turnWithRoom) ?? turnWithRoom());
    return room?.then(() => (response.closed ? never() : undefined));
  }

  private counted(key: string): Caller {
    const { underWay } = this.limits;
    const caller = this.callers.get(key) ?? { count: 0, atWork: new Set(), waiting: new Map() };
    if (underWay.most > 0 && caller.count >= underWay.most) {
      throw new TooManyCallerRequestsError(underWay);
    }
    this.callers.set(key, caller);
    caller.count += 1;
    return caller;
  }

  private turnOf({ atWork, waiting }: Caller, response: ServerResponse): Promise<void> | undefined {
    if (this.limits.atWork === 0) {
      return undefined;
    }
    if (atWork.size >= this.limits.atWork) {
      return new Promise((begin) => waiting.set(response, begin));
    }
    atWork.add(response);
    return undefined;
  }

  private left(key: string, caller: Caller, response: ServerResponse): void {
    const [next] = caller.waiting;
    if (!caller.waiting.delete(response) && caller.atWork.delete(response) && next !== undefined) {
      const [waiting, begin] = next;
      caller.waiting.delete(waiting);
      caller.atWork.add(waiting);
      begin();
    }
    caller.count -= 1;
    if (caller.count === 0) {
      this.callers.delete(key);
    }
  }
}

/** Nobody waits for the answer any more, so nothing goes on. */
function never(): Promise<void> {
  return new Promise(() => undefined);
}
