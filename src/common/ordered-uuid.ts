import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';

/** Room for all that one millisecond can bring. */
const FIRST_SEQ_MAX = 2 ** 31;

let last = { msecs: -1, seq: 0 };

/**
 * A UUID version 7 of a time. UUIDs of one process and one millisecond are in the order in which they were made (RFC
 * 9562, section 6.2, method 1). So lists by id show entries as they came.
 */
export function orderedUuid(time: Date): string {
  const msecs = time.getTime();
  last = { msecs, seq: msecs === last.msecs ? last.seq + 1 : randomInt(FIRST_SEQ_MAX) };
  return v7(last);
}

/** The least UUID version 7 of a time (RFC 9562, section 5.7): its first 48 bits are the milliseconds. */
export function firstUuidAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7000-8000-000000000000`;
}
