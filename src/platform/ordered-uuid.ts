import { randomFillSync, randomInt } from 'node:crypto';
import { v7 } from 'uuid';

/** Room for all that one millisecond can bring. */
const FIRST_SEQ_MAX = 2 ** 31;
const BYTES = 16;
/** Asking the operating system takes as long for many bytes as for few. */
const random = new Uint8Array(256 * BYTES);

let used = random.length;
let last = { msecs: -1, seq: 0 };

/**
 * A UUID version 7 of a time. UUIDs of one process and one millisecond are in the order in which they were made (RFC
 * 9562, section 6.2, method 1). So lists by id show entries as they came.
 * @param lastByte in place of a random one
 */
export function orderedUuid(time: Date, lastByte?: number): string {
  const msecs = time.getTime();
  last = { msecs, seq: msecs === last.msecs ? last.seq + 1 : randomInt(FIRST_SEQ_MAX) };
  const random = randomBytes();
  random[BYTES - 1] = lastByte ?? random[BYTES - 1] ?? 0;
  return v7({ ...last, random });
}

/** A UUID version 7 of a time (RFC 9562, section 5.7), in no order within its millisecond. */
export function uuidOf(time: Date): string {
  return v7({ msecs: time.getTime(), random: randomBytes() });
}

/** The least UUID version 7 of a time (RFC 9562, section 5.7): its first 48 bits are the milliseconds. */
export function firstUuidAt(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7000-8000-000000000000`;
}

/** The time of a UUID version 7 (RFC 9562, section 5.7). */
export function timeOfUuid(uuid: string): Date {
  return new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));
}

function randomBytes(): Uint8Array {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += BYTES;
  return random.subarray(used - BYTES, used);
}
