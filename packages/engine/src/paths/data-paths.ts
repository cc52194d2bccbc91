import { InvalidRequestError } from '../errors/domain.error.js';
import { type JsonObject, isJsonObject } from '../json/json.js';

/** 400: malformed path into process data. The message names the mistake. */
export class InvalidDataPathError extends InvalidRequestError {
  readonly code = 'DATA_PATH_INVALID';
}

/** 400: data with a prototype key or nested too deeply to become process data. */
export class InvalidDataError extends InvalidRequestError {
  readonly code = 'DATA_INVALID';
}

/** The steps of a path: names of object members, indexes of array elements. */
export type DataPath = readonly (string | number)[];

const MAX_PATH_LENGTH = 1024;
const MAX_SEGMENTS = 64;
/** Setting an index fills the array up to it, so indexes are bounded. */
const MAX_INDEX = 9_999;
/** Levels of merged data, as many as a request body may have. */
const MAX_DEPTH = 64;
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const SEGMENT =
  /(?<dot>\.?)(?<name>[^.[\]"'\s][^.[\]"']*)|\[(?:(?<index>\d{1,9})|"(?<double>[^"]+)"|'(?<single>[^']+)')\]/y;

/** Whether a name could reach a prototype in a careless copy. Process data never has such members. */
export function isPrototypeKey(name: string): boolean {
  return PROTOTYPE_KEYS.has(name);
}

/**
 * Parses a path such as `client.addresses[0].city` or `fields["Credit Score"]` into steps.
 * @param path at most 1,024 characters and 64 steps
 * @throws InvalidDataPathError when it is malformed or names a prototype key
 */
export function parsePath(path: string): (string | number)[] {
  if (path.length > MAX_PATH_LENGTH) {
    throw new InvalidDataPathError(`A data path has at most ${MAX_PATH_LENGTH} characters.`);
  }
  const segments: (string | number)[] = [];
  let position = 0;
  while (position < path.length) {
    SEGMENT.lastIndex = position;
    const match = SEGMENT.exec(path);
    if (match === null || !isSeparated(match.groups ?? {}, position)) {
      throw malformed(
        path,
        `character ${position + 1} is not the start of a name, ".name", [index] or ["name"]`,
      );
    }
    segments.push(segmentOf(path, match.groups ?? {}));
    position = SEGMENT.lastIndex;
  }
  if (segments.length === 0 || segments.length > MAX_SEGMENTS) {
    throw malformed(path, `it has ${segments.length} steps, 1 to ${MAX_SEGMENTS} are possible`);
  }
  return segments;
}

/** Every name but the first needs a dot. */
function isSeparated(groups: Partial<Record<string, string>>, position: number): boolean {
  return groups.name === undefined || (position === 0) === (groups.dot === '');
}

function segmentOf(path: string, groups: Partial<Record<string, string>>): string | number {
  if (groups.index !== undefined) {
    const index = Number(groups.index);
    if (index > MAX_INDEX) {
      throw malformed(path, `an index is at most ${MAX_INDEX}`);
    }
    return index;
  }
  const name = groups.name ?? groups.double ?? groups.single ?? '';
  if (isPrototypeKey(name)) {
    throw malformed(path, `${name} is a name that no field may have`);
  }
  return name;
}

function malformed(path: string, why: string): InvalidDataPathError {
  return new InvalidDataPathError(`"${path.slice(0, 100)}" is not a data path: ${why}.`);
}

/**
 * Returns the value at a path, or undefined if there is none. Null counts as a value.
 * @throws InvalidDataPathError when the path is malformed
 */
export function getPath(data: unknown, path: string | DataPath): unknown {
  let value = data;
  for (const segment of stepsOf(path)) {
    value = childOf(value, segment);
    if (value === undefined) {
      return undefined;
    }
  }
  return value;
}

/** Returns the own member or element of a value at one step. */
export function childOf(value: unknown, segment: string | number): unknown {
  if (Array.isArray(value)) {
    return typeof segment === 'number' ? (value as unknown[])[segment] : undefined;
  }
  if (!isJsonObject(value)) {
    return undefined;
  }
  const name = String(segment);
  return Object.hasOwn(value, name) && !isPrototypeKey(name) ? value[name] : undefined;
}

/** Cost of an element relative to a member. Measured. */
const ELEMENT_COPIED = 1 / 16;
const ELEMENT_MERGED = 1 / 4;

/** Called with the number of object members about to be copied; throws to prevent the copy. Elements count as fractions of a member. */
export type ChargeCopies = (members: number) => void;

/**
 * Copies the data and sets the value at a path. Missing objects and arrays along the path are created and replace anything
 * else there. Skipped array elements become null.
 * @throws InvalidDataPathError when the path is malformed
 */
export function setPath(
  data: JsonObject,
  path: string | DataPath,
  value: unknown,
  pay: ChargeCopies = free,
): JsonObject {
  const steps = stepsOf(path);
  if (typeof steps[0] === 'number') {
    throw malformed(`[${steps[0]}]`, 'process data is an object, a path into it starts with a name');
  }
  return withValue(data, steps, value, pay) as JsonObject;
}

function free(): void {
  // The data is small or already paid for.
}

function withValue(holder: unknown, steps: DataPath, value: unknown, pay: ChargeCopies): unknown {
  const [segment, ...rest] = steps;
  if (segment === undefined) {
    return value;
  }
  pay(sizeOf(holder));
  const child = withValue(childOf(holder, segment), rest, value, pay);
  if (typeof segment === 'string') {
    return { ...(isJsonObject(holder) ? holder : {}), [segment]: child };
  }
  const elements: unknown[] = Array.isArray(holder) ? [...(holder as unknown[])] : [];
  while (elements.length < segment) {
    elements.push(null);
  }
  elements[segment] = child;
  return elements;
}

/**
 * Copies the data without the value at a path. Returns the data itself if there is no such value.
 * @throws InvalidDataPathError when the path is malformed
 */
export function removePath(data: JsonObject, path: string | DataPath, pay: ChargeCopies = free): JsonObject {
  const steps = stepsOf(path);
  return getPath(data, steps) === undefined ? data : (without(data, steps, pay) as JsonObject);
}

function without(holder: unknown, steps: DataPath, pay: ChargeCopies): unknown {
  const [segment, ...rest] = steps;
  if (segment === undefined) {
    return holder;
  }
  pay(sizeOf(holder));
  if (Array.isArray(holder)) {
    const index = Number(segment);
    const elements: unknown[] = holder;
    return rest.length === 0
      ? elements.toSpliced(index, 1)
      : elements.with(index, without(elements[index], rest, pay));
  }
  const { [String(segment)]: child, ...others } = holder as JsonObject;
  return rest.length === 0
    ? others
    : { ...(holder as JsonObject), [String(segment)]: without(child, rest, pay) };
}

/**
 * Copies the base with a patch merged in: objects are merged member by member, everything else, including arrays, is replaced
 * (docs/contract.md, section 4.2).
 * @throws InvalidDataError when the patch holds a prototype key or more than 64 levels
 */
export function deepMerge(base: JsonObject, patch: JsonObject, pay: ChargeCopies = free): JsonObject {
  return merged(base, patch, { pay, nullRemoves: false }) as JsonObject;
}

/**
 * Copies the base with a JSON merge patch applied (RFC 7396): objects are merged member by member, null removes a member, and
 * everything else is replaced.
 * @throws InvalidDataError as `deepMerge`
 */
export function mergePatch(base: JsonObject, patch: JsonObject, pay: ChargeCopies = free): JsonObject {
  return merged(base, patch, { pay, nullRemoves: true }) as JsonObject;
}

interface Merge {
  readonly pay: ChargeCopies;
  /** Whether null removes a member of an object; it never does inside a list. */
  readonly nullRemoves: boolean;
}

function merged(base: unknown, patch: unknown, merge: Merge, depth = 0): unknown {
  if (depth > MAX_DEPTH) {
    throw new InvalidDataError(`Data has at most ${MAX_DEPTH} levels.`);
  }
  if (Array.isArray(patch)) {
    merge.pay(patch.length * ELEMENT_MERGED);
    const ofElements = { ...merge, nullRemoves: false };
    return patch.map((element) => merged(undefined, element, ofElements, depth + 1));
  }
  return isJsonObject(patch) ? mergedObject(base, patch, merge, depth) : patch;
}

function mergedObject(base: unknown, patch: JsonObject, merge: Merge, depth: number): JsonObject {
  merge.pay(sizeOf(base) + sizeOf(patch));
  const result: JsonObject = isJsonObject(base) ? { ...base } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (isPrototypeKey(name)) {
      throw new InvalidDataError(`${name} is a name that no field may have.`);
    }
    if (value === null && merge.nullRemoves) {
      Reflect.deleteProperty(result, name);
    } else if (value !== undefined) {
      result[name] = merged(Object.hasOwn(result, name) ? result[name] : undefined, value, merge, depth + 1);
    }
  }
  return result;
}

/** Number of members of a value. Array elements count less because they are copied faster. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) {
    return value.length * ELEMENT_COPIED;
  }
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

function stepsOf(path: string | DataPath): DataPath {
  if (typeof path === 'string') {
    return parsePath(path);
  }
  const bad = path.find((segment) => typeof segment === 'string' && isPrototypeKey(segment));
  if (bad !== undefined) {
    throw malformed(path.join('.'), `${bad} is a name that no field may have`);
  }
  return path;
}
