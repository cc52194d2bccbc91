import { isJsonObject, type JsonValue } from '../data-paths.js';
import { placesOf } from './text-search.js';
import { bytesOf, canonicalText, type CanonicalText } from './canonical-text.js';

const REMOVED = '[removed]';
/** Texts that are removed wherever they stand must be long enough not to be common words. */
const SECRET_MIN_LENGTH = 8;
/** How a text can lie in the groups of three bytes that base64 makes four characters of. */
const ALIGNMENTS = [0, 1, 2];

/**
 * Takes secrets out of what another side says, which may send back what it was given: as they are and percent-encoded,
 * form-encoded or escaped for JSON or XML, in hexadecimal, and in base64, also within longer base64 such as Basic
 * credentials. What it means to hand on in a form of its own, it can. Made once for a call: the forms are worked out then.
 */
export class SecretRemoval {
  /** Removes nothing. */
  static readonly none = new SecretRemoval([]);

  /** Canonical forms of the secrets, shortest first. */
  private readonly forms: readonly string[];

  /** @param secrets those with fewer bytes than `minLength` stay where they are */
  constructor(secrets: readonly string[], minLength = SECRET_MIN_LENGTH) {
    const long = secrets.map(bytesOf).filter((secret) => secret.length >= minLength);
    const forms = new Set(long.flatMap(formsOf).filter((form) => form.length >= minLength));
    this.forms = [...forms].toSorted((one, other) => one.length - other.length);
  }

  /** A text without the secrets; the very same where it has none. */
  text(text: string): string {
    if (!this.canHold(text)) {
      return text;
    }
    const canonical = canonicalText(text);
    const found = this.found(canonical.text);
    return found.length === 0 ? text : without(text, canonical, found);
  }

  /** As {@link text}, for every text, number and name in a value. Recursive: for values of bounded depth. */
  json(value: JsonValue): JsonValue {
    if (typeof value === 'string') {
      return this.text(value);
    }
    if (typeof value === 'number') {
      return this.isIn(String(value)) ? REMOVED : value;
    }
    if (Array.isArray(value)) {
      return value.map((item) => this.json(item));
    }
    if (isJsonObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [this.text(name), this.json(member)]),
      );
    }
    return value;
  }

  /** Whether a text holds a secret in any form. */
  isIn(text: string): boolean {
    return this.canHold(text) && this.found(canonicalText(text).text).length > 0;
  }

  /** Most texts of an answer are shorter than every secret. */
  private canHold(text: string): boolean {
    const [shortest] = this.forms;
    return shortest !== undefined && Buffer.byteLength(text) >= shortest.length;
  }

  /** Beginnings and ends in a canonical text, in order, none within another. */
  private found(text: string): [number, number][] {
    const found: [number, number][] = [];
    for (const form of this.forms) {
      if (form.length > text.length) {
        break;
      }
      for (const at of placesOf(form, text)) {
        found.push([at, at + form.length]);
      }
    }
    return merged(found.toSorted(([one], [other]) => one - other));
  }
}

/** @param secret bytes, one character each */
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

/** What base64 of any text with these bytes in it has in it, and the base64 of these bytes alone. */
function base64Forms(bytes: Buffer): string[] {
  const within = ALIGNMENTS.map((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Characters at both ends that hold bits of neighbours, too, are not the same everywhere.
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
