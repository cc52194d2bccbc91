import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';

/** Room for all that one millisecond can bring. */
const FIRST_SEQ_MAX = 2 ** 31;

let last = { msecs: -1, seq: 0 };

/**
 * A UUID version 7 of a time. Those that this process makes for one millisecond are in the order in which it makes them (RFC 9562,
 * section 6.2, method 1), so lists by id show them as they came.
 */
export function orderedUuid(time: Date): string {
  const msecs = time.getTime();
  last = { msecs, seq: msecs === last.msecs ? last.seq + 1 : randomInt(FIRST_SEQ_MAX) };
  return v7(last);
}
