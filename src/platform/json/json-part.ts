import {
  COLON,
  COMMA,
  endOfByteString,
  LIST,
  LIST_END,
  OBJECT,
  OBJECT_END,
  QUOTE,
  SPACE,
} from '#engine/json';
import type { YieldingWork } from '#engine/support';

/** Bytes scanned between two yields, which takes some tenths of a millisecond. */
const PIECE = 65_536;

const ENDS_WORD = new Set<number | undefined>([COMMA, LIST_END, OBJECT_END, SPACE]);

export function memberOf(part: JsonPart | undefined, name: string): JsonPart | undefined {
  return part?.parts.find((member) => member.name === name);
}

/**
 * Finds the parts of a large JSON text without parsing them.
 * @param text UTF-8 of valid JSON that we wrote ourselves; invalid JSON gives parts that cannot be read
 * @param depth 1 for the members or elements of the whole, 2 for theirs too, and so on
 */
export function* jsonParts(text: Buffer, depth: number): YieldingWork<JsonPart> {
  const scan = new Scan(text, depth);
  while (scan.advance()) {
    yield;
  }
  return scan.whole;
}

/**
 * Parses a large JSON text in pieces, of which only strings can be long.
 * @param text UTF-8 of valid JSON that we wrote ourselves
 */
export function* jsonValue(text: Buffer): YieldingWork<unknown> {
  if (text.length <= PIECE) {
    return JSON.parse(text.toString());
  }
  const whole = yield* jsonParts(text, 1);
  if (whole.parts.length === 0) {
    return whole.read();
  }
  const values: [string | undefined, unknown][] = [];
  for (const { name, bytes } of whole.parts) {
    values.push([name, yield* jsonValue(bytes)]);
    yield;
  }
  return values[0]?.[0] === undefined ? values.map(([, value]) => value) : Object.fromEntries(values);
}

/** A value inside a large JSON text. It can be parsed without the rest of the text. */
export class JsonPart {
  readonly parts: JsonPart[] = [];

  constructor(
    private readonly text: Buffer,
    readonly name: string | undefined,
    private readonly start: number,
    public end: number,
  ) {}

  get isObject(): boolean {
    return this.text[this.start] === OBJECT;
  }

  /** Parses the value. The work grows with the size of the part. */
  read(): unknown {
    return JSON.parse(this.text.toString('utf8', this.start, this.end));
  }

  get bytes(): Buffer {
    return this.text.subarray(this.start, this.end);
  }

  /** Returns whether the part contains these bytes; fast even for a large part. */
  includes(bytes: Buffer): boolean {
    return this.bytes.includes(bytes);
  }
}

class Scan {
  private at = 0;
  private level = 0;
  private name: string | undefined;
  private readonly around: JsonPart;
  private readonly open: JsonPart[];

  constructor(
    private readonly text: Buffer,
    private readonly depth: number,
  ) {
    this.around = new JsonPart(text, undefined, text.length, text.length);
    this.open = [this.around];
  }

  get whole(): JsonPart {
    return this.around.parts[0] ?? this.around;
  }

  advance(): boolean {
    const until = Math.min(this.at + PIECE, this.text.length);
    while (this.at < until) {
      this.token();
    }
    return this.at < this.text.length;
  }

  private token(): void {
    switch (this.text[this.at]) {
      case QUOTE:
        this.string();
        break;
      case OBJECT:
      case LIST:
        this.begin();
        break;
      case OBJECT_END:
      case LIST_END:
        this.finish();
        break;
      case COMMA:
      case COLON:
      case SPACE:
        this.at += 1;
        break;
      default:
        this.scalar(this.endOfWord());
    }
  }

  private begin(): void {
    if (this.level <= this.depth) {
      const part = this.added(this.at);
      this.open.push(part);
    }
    this.level += 1;
    this.at += 1;
  }

  private finish(): void {
    this.level -= 1;
    this.at += 1;
    const part = this.level <= this.depth ? this.open.pop() : undefined;
    if (part !== undefined) {
      part.end = this.at;
    }
  }

  private string(): void {
    const end = endOfByteString(this.text, this.at) + 1;
    const isName = this.level <= this.depth && this.name === undefined && this.open.at(-1)?.isObject === true;
    if (isName) {
      this.name = JSON.parse(this.text.toString('utf8', this.at, end)) as string;
      this.at = end;
    } else {
      this.scalar(end);
    }
  }

  private scalar(end: number): void {
    if (this.level <= this.depth) {
      this.added(end);
    }
    this.at = end;
  }

  private added(end: number): JsonPart {
    const part = new JsonPart(this.text, this.name, this.at, end);
    this.name = undefined;
    this.open.at(-1)?.parts.push(part);
    return part;
  }

  private endOfWord(): number {
    const { text } = this;
    let end = this.at + 1;
    while (end < text.length && !ENDS_WORD.has(text[end])) {
      end += 1;
    }
    return end;
  }
}
