import type { JsonValue } from '#engine/json';
import { runWithoutYielding, type YieldingWork } from '#engine/support';
import { placesOf } from './text-search.js';
import { bytesOf, canonicalSteps, canonicalText, type CanonicalText } from './canonical-text.js';

const REMOVED = '[removed]';
/** Shorter secrets are kept, because they could be common words. */
const SECRET_MIN_LENGTH = 8;
/** Work between two yields, in searched characters, and the additional work of a member and of a search. */
const WORK_AT_ONCE = 262_144;
const MEMBER_WORK = 256;
const SEARCH_WORK = 32;
/** Possible offsets of a text in the groups of three bytes that base64 encodes. */
const ALIGNMENTS = [0, 1, 2];

/**
 * Removes secrets from texts of another party, which may send back what it received. Finds them as plain text,
 * percent-encoded, form-encoded, escaped for JSON or XML, in hexadecimal, and in base64, including longer base64 such as Basic
 * credentials. Does not find other encodings. Create one instance per call, because the constructor computes all encodings.
 */
export class SecretRemoval {
  static readonly none = new SecretRemoval([]);

  private readonly forms: readonly string[];
  private done = 0;

  /** @param secrets those with fewer bytes than `minLength` are not removed */
  constructor(secrets: readonly string[], minLength = SECRET_MIN_LENGTH) {
    const long = secrets.map(bytesOf).filter((secret) => secret.length >= minLength);
    const forms = new Set(long.flatMap(formsOf).filter((form) => form.length >= minLength));
    this.forms = [...forms].toSorted((one, other) => one.length - other.length);
  }

  /** Removes the secrets from a text. */
  text(text: string): string {
    return runWithoutYielding(this.textSteps(text));
  }

  /** Removes the secrets from every text, number and member name in a value. Recursive, so the depth must be bounded. */
  json(value: JsonValue): JsonValue {
    return runWithoutYielding(this.jsonSteps(value));
  }

  /** As {@link json}, in steps, for values of any size. */
  *jsonSteps(value: JsonValue): YieldingWork<JsonValue> {
    if (this.forms.length === 0) {
      return value;
    }
    if (typeof value !== 'object' || value === null) {
      return yield* this.scalarSteps(value);
    }
    const members: [string, JsonValue][] = [];
    for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      const shown = typeof name === 'string' ? yield* this.textSteps(name) : '';
      members.push([shown, yield* this.jsonSteps(member)]);
      if (this.isDue(MEMBER_WORK)) {
        yield;
      }
    }
    return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
  }

  private *scalarSteps(value: string | number | boolean | null): YieldingWork<JsonValue> {
    const isText = typeof value === 'string';
    if (!isText && typeof value !== 'number') {
      return value;
    }
    const text = String(value);
    const shown = yield* this.textSteps(text);
    return shown === text ? value : isText ? shown : REMOVED;
  }

  /** As {@link text}, in steps, for texts of any length. */
  *textSteps(text: string): YieldingWork<string> {
    if (!this.canHold(text)) {
      return text;
    }
    const canonical = yield* canonicalSteps(text);
    const found = yield* this.foundSteps(canonical.text);
    return found.length === 0 ? text : without(text, canonical, found);
  }

  isIn(text: string): boolean {
    return this.canHold(text) && runWithoutYielding(this.foundSteps(canonicalText(text).text)).length > 0;
  }

  private isDue(work: number): boolean {
    this.done += work;
    if (this.done < WORK_AT_ONCE) {
      return false;
    }
    this.done = 0;
    return true;
  }

  /** Fast check, because most texts of an answer are shorter than every secret. */
  private canHold(text: string): boolean {
    const [shortest] = this.forms;
    return shortest !== undefined && Buffer.byteLength(text) >= shortest.length;
  }

  private *foundSteps(text: string): YieldingWork<[number, number][]> {
    const found: [number, number][] = [];
    for (const form of this.forms) {
      if (form.length > text.length) {
        break;
      }
      for (const at of placesOf(form, text)) {
        found.push([at, at + form.length]);
      }
      if (this.isDue(text.length + SEARCH_WORK)) {
        yield;
      }
    }
    return merged(found.toSorted(([one], [other]) => one - other));
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'latin1');
  const written = [secret, formEncoded(bytes), JSON.stringify(bytes.toString()).slice(1, -1)];
  const encoded = [...new Set(written)].map((text) => Buffer.from(text === secret ? bytes : text));
  return [
    canonicalText(bytes.toString()).text,
    ...encoded.flatMap((text) => [
      text.toString('hex'),
      text.toString('hex').toUpperCase(),
      ...base64Forms(text).map((form) => canonicalText(form).text),
    ]),
  ];
}

function formEncoded(bytes: Buffer): string {
  return new URLSearchParams({ v: bytes.toString() }).toString().slice(2);
}

/** Returns the base64 of these bytes, and what the base64 of any longer text with these bytes must contain. */
function base64Forms(bytes: Buffer): string[] {
  const within = ALIGNMENTS.map((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Drops the characters at both ends that also depend on neighboring bytes.
    return padded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [bytes.toString('base64').replaceAll('=', ''), ...within];
}

function merged(ranges: readonly [number, number][]): [number, number][] {
  const result: [number, number][] = [];
  for (const [start, end] of ranges) {
    const last = result.at(-1);
    if (last !== undefined && start < last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      result.push([start, end]);
    }
  }
  return result;
}

function without(
  original: string,
  { text, origins }: CanonicalText,
  found: readonly [number, number][],
): string {
  const bytes = Buffer.from(original);
  const place = (index: number): number =>
    index >= text.length ? bytes.length : (origins?.[index] ?? index);
  const parts: Buffer[] = [];
  let read = 0;
  for (const [start, end] of found) {
    parts.push(bytes.subarray(read, place(start)), Buffer.from(REMOVED));
    read = place(end);
  }
  return Buffer.concat([...parts, bytes.subarray(read)]).toString();
}
