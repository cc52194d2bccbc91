import { UnreadableBodyError } from '../errors/request.errors.js';
import { RateLimitExceededError } from '../rate-limit/rate-limit.errors.js';
import { WaitingLine } from '../waiting-line.js';

/** What one caller has. */
interface Bodies {
  bytes: number;
  /** Bytes of those that wait. */
  readonly line: WaitingLine<number>;
}

const RETRY_AFTER_SECONDS = 1;
const GONE = 'Request body could not be read.';
/** Such a body is cheap, and its request may take long for reasons of its own. */
const SMALL_BYTES = 16_384;

/** Whether a body of so many bytes needs no turn. */
export function isSmallBody(bytes: number): boolean {
  return bytes <= SMALL_BYTES;
}

/**
 * Lets the request bodies of one caller be read and worked on a few at a time, in the order in which they came. To work on a
 * large body takes the event loop for a moment. Between the bodies of one caller the requests of others have theirs.
 * What waits is not read, so it takes no memory. Bodies up to 16 KiB do not wait.
 */
export class BodyTurns {
  private readonly callers = new Map<string, Bodies>();

  /**
   * @param maxBytes bytes of one caller that have their turn at the same time; a larger body has it alone; 0 is no limit
   * @param waitMs how long a body waits
   */
  constructor(
    private readonly maxBytes: number,
    private readonly waitMs: number,
  ) {}

  /**
   * Waits for the turn of a request.
   * @param bytes size of its body at the most
   * @param over ends the turn at the latest: the answer is sent, or the connection is gone
   * @returns ends the turn before, when nothing large is left to do; to call it again does no harm
   * @throws RateLimitExceededError when the caller keeps it waiting for too long
   * @throws UnreadableBodyError when the connection is gone
   */
  async take(caller: string, bytes: number, over: AbortSignal): Promise<() => void> {
    if (this.maxBytes === 0 || isSmallBody(bytes)) {
      return () => undefined;
    }
    const bodies = this.callers.get(caller) ?? { bytes: 0, line: new WaitingLine<number>() };
    this.callers.set(caller, bodies);
    if (bodies.line.length === 0 && this.fits(bodies, bytes)) {
      bodies.bytes += bytes;
    } else if (!(await bodies.line.wait(bytes, this.waitMs, over))) {
      throw over.aborted ? new UnreadableBodyError(GONE) : new RateLimitExceededError(RETRY_AFTER_SECONDS);
    }
    let hasEnded = false;
    const end = (): void => {
      over.removeEventListener('abort', end);
      if (!hasEnded) {
        hasEnded = true;
        this.end(caller, bodies, bytes);
      }
    };
    over.addEventListener('abort', end);
    if (over.aborted) {
      end();
      throw new UnreadableBodyError(GONE);
    }
    return end;
  }

  private fits(bodies: Bodies, bytes: number): boolean {
    return bodies.bytes === 0 || bodies.bytes + bytes <= this.maxBytes;
  }

  private end(caller: string, bodies: Bodies, bytes: number): void {
    bodies.bytes -= bytes;
    for (
      let next = bodies.line.first;
      next !== undefined && this.fits(bodies, next);
      next = bodies.line.first
    ) {
      bodies.bytes += next;
      bodies.line.admit();
    }
    if (bodies.bytes === 0) {
      this.callers.delete(caller);
    }
  }
}
