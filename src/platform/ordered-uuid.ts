import { randomFillSync, randomInt } from 'node:crypto';
import { v7 } from 'uuid';

/** Exclusive upper bound of the random first sequence number of a millisecond, leaving room for later ones. */
const FIRST_SEQ_MAX = 2 ** 31;
const BYTES = 16;
/** Random bytes in reserve: the operating system takes as long for many bytes as for few. */
const pool = new Uint8Array(256 * BYTES);

let used = pool.length;
let last = { msecs: -1, seq: 0 };

/**
 * Returns a UUID version 7 for a time. UUIDs of one process and one millisecond are ordered by creation (RFC 9562,
 * section 6.2, method 1), so lists sorted by id keep that order.
 * @param lastByte replaces a random byte
 */
export function orderedUuid(time: Date, lastByte?: number): string {
  const msecs = time.getTime();
  last = { msecs, seq: msecs === last.msecs ? last.seq + 1 : randomInt(FIRST_SEQ_MAX) };
  const random = randomBytes();
  random[BYTES - 1] = lastByte ?? random[BYTES - 1] ?? 0;
  return v7({ ...last, random });
}

/** Returns a UUID version 7 for a time (RFC 9562, section 5.7), without order within its millisecond. */
export function uuidOf(time: Date): string {
  return v7({ msecs: time.getTime(), random: randomBytes() });
}

/** Returns the smallest UUID version 7 of a time (RFC 9562, section 5.7): its first 48 bits are the milliseconds. */
export function firstUuidAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7000-8000-000000000000`;
}

/** Returns the time of a UUID version 7 (RFC 9562, section 5.7). */
export function timeOfUuid(uuid: string): Date {
  return new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));
}

function randomBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  return pool.subarray(used - BYTES, used);
}
