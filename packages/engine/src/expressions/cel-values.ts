import { celMap, isCelList, isCelMap, isCelType, isCelUint, type CelMap, type CelValue } from '@bufbuild/cel';
import { toJson } from '@bufbuild/protobuf';
import { isReflectMessage } from '@bufbuild/protobuf/reflect';
import { isJsonObject, type JsonObject } from '../json/json.js';
import { isPrototypeKey } from '../paths/data-paths.js';
import { jsonList } from './cel-lists.js';
import type { CelMeter } from './cel-meter.js';
import { ExpressionError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';
import { cached } from '../support/cached.js';

const MEMBER_LENGTH = 8;

const ELEMENTS_A_STEP = 4;

const STEPS_A_RESULT = 2;

/**
 * Exposes JSON data to CEL. Objects and elements are converted on access, so the size of the process data costs nothing. Each
 * evaluation needs its own view.
 */
export class JsonView {
  private readonly seen = new WeakMap<object, CelValue>();

  constructor(private readonly meter: CelMeter) {}

  /** Converts a value. Returns undefined if it is not JSON, as for a missing value. */
  wrap(value: unknown): CelValue | undefined {
    if (Array.isArray(value)) {
      return cached(this.seen, value, () => jsonList(value, (element) => this.element(element)));
    }
    if (isJsonObject(value)) {
      return cached(this.seen, value, () => new JsonObjectMap(value, this, this.meter) as unknown as CelMap);
    }
    return isScalar(value) ? value : undefined;
  }

  private element(value: unknown): CelValue {
    this.meter.charge(1 / ELEMENTS_A_STEP);
    return this.wrap(value) ?? null;
  }
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return (
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  );
}

function isJson(value: unknown): boolean {
  return isScalar(value) || Array.isArray(value) || isJsonObject(value);
}

/** A JSON object as a CEL map, with only its own members and without prototype keys. */
class JsonObjectMap {
  private known: readonly string[] | undefined;

  constructor(
    private readonly object: JsonObject,
    private readonly view: JsonView,
    private readonly meter: CelMeter,
  ) {}

  get(name: unknown): CelValue | undefined {
    const isThere = typeof name === 'string' && Object.hasOwn(this.object, name) && !isPrototypeKey(name);
    return isThere ? this.view.wrap(this.object[name]) : undefined;
  }

  get size(): number {
    return this.names().length;
  }

  keys(): Iterable<string> {
    return this.names().values();
  }

  *values(): Iterable<CelValue> {
    for (const name of this.names()) {
      yield this.get(name) ?? null;
    }
  }

  *entries(): Iterable<[string, CelValue]> {
    for (const name of this.names()) {
      yield [name, this.get(name) ?? null];
    }
  }

  private names(): readonly string[] {
    this.known ??= Object.keys(this.object).filter(
      (name) => !isPrototypeKey(name) && isJson(this.object[name]),
    );
    this.meter.charge(this.known.length / ELEMENTS_A_STEP);
    return this.known;
  }
}
// The library recognizes its maps by a private member. `has` and iterators use the members above.
Object.setPrototypeOf(JsonObjectMap.prototype, celMap(new Map()));

/**
 * Converts a CEL value to plain JSON as the CEL language definition specifies. Bytes become base64, times and durations their text,
 * integers beyond 2^53 decimal strings.
 * @throws ExpressionError when JSON cannot represent the value, or it is too large
 */
export function toJsonValue(value: CelValue, meter: CelMeter): unknown {
  return new JsonWriter(meter).write(value);
}

class JsonWriter {
  private length = 0;

  constructor(private readonly meter: CelMeter) {}

  write(value: CelValue): unknown {
    this.meter.charge(STEPS_A_RESULT);
    this.count(MEMBER_LENGTH);
    switch (typeof value) {
      case 'string':
        this.count(value.length);
        return value;
      case 'number':
        return finite(value);
      case 'bigint':
        return toJsonInteger(value);
      case 'boolean':
        return value;
      default:
        return value === null ? null : this.writeObject(value);
    }
  }

  private writeObject(value: Exclude<CelValue, string | number | bigint | boolean | null>): unknown {
    if (isCelList(value)) {
      return Array.from(value, (element) => this.write(element));
    }
    if (isCelMap(value)) {
      return this.writeMap(value.entries());
    }
    if (isCelUint(value)) {
      return toJsonInteger(value.value);
    }
    if (value instanceof Uint8Array) {
      this.count(value.length);
      return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''));
    }
    if (isCelType(value)) {
      return value.name;
    }
    return isReflectMessage(value) ? toJson(value.desc, value.message) : null;
  }

  private writeMap(entries: Iterable<[unknown, CelValue]>): JsonObject {
    const object: JsonObject = {};
    for (const [key, member] of entries) {
      const name = isCelUint(key) ? String(key.value) : String(key);
      if (isPrototypeKey(name)) {
        throw new ExpressionError(`${name} is a name that no field may have.`, 'failed');
      }
      this.count(name.length);
      object[name] = this.write(member);
    }
    return object;
  }

  private count(length: number): void {
    this.length += length;
    if (this.length > EXPRESSION_LIMITS.resultLength) {
      throw new ExpressionError('The result of the expression is too large.', 'limit');
    }
  }
}

function finite(value: number): number {
  if (!Number.isFinite(value)) {
    throw new ExpressionError(`The result ${value} is not a JSON number.`, 'failed');
  }
  return value;
}

function toJsonInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}
