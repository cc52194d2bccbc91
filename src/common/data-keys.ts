import { childOf, isJsonObject, parsePath, type DataPath, type JsonObject } from './data-paths.js';

/** Written instead of paths: everything. */
const EVERYTHING = '*';

/** A set of path prefixes, ordered by their steps. */
interface Prefixes {
  /** A prefix ends here, so all below belongs to it. */
  complete: boolean;
  readonly next: Map<string | number, Prefixes>;
}

/**
 * A copy of the data with nothing but what the whitelist names (decisions, section 6, `keys`): each key is a path, and
 * everything at and below it is kept; `a.*` is the same as `a`. `[]` keeps nothing, `['*']` everything. A name that meets an array holds for each of its
 * elements; an element that is not kept, before one that is, becomes null.
 * @throws InvalidDataPathError when a key is malformed
 */
export function pickKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  const prefixes = prefixesOf(keys);
  return prefixes.complete ? data : ((picked(data, prefixes) ?? {}) as JsonObject);
}

/**
 * A copy of the data without what the keys name; the counterpart of {@link pickKeys}.
 * @throws InvalidDataPathError when a key is malformed
 */
export function omitKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  const prefixes = prefixesOf(keys);
  return prefixes.complete ? {} : (omitted(data, prefixes) as JsonObject);
}

/**
 * What {@link pickKeys} would take away: the paths of the topmost values that no key takes, written as keys are. A null in an array and
 * an object without members on the way to a key hold nothing that could be lost.
 * @param limit how many paths to name at most
 * @throws InvalidDataPathError when a key is malformed
 */
export function untakenPaths(data: JsonObject, keys: readonly string[], limit: number): string[] {
  const found: string[] = [];
  addUntaken(data, prefixesOf(keys), '', { found, limit });
  return found;
}

function addUntaken(
  value: unknown,
  prefixes: Prefixes | undefined,
  path: string,
  result: { readonly found: string[]; readonly limit: number },
): void {
  if (prefixes?.complete === true || result.found.length >= result.limit) {
    return;
  }
  if (prefixes === undefined || !leadsOn(value, prefixes, path)) {
    result.found.push(path);
    return;
  }
  for (const { step, child, next } of stepsBelow(value, prefixes)) {
    addUntaken(child, next, path + pathStep(step, path === ''), result);
  }
}

/** Members or elements of a value, without nulls in an array, and what holds for them. */
function* stepsBelow(
  value: object,
  prefixes: Prefixes,
): Generator<{ step: string | number; child: unknown; next: Prefixes | undefined }> {
  if (!Array.isArray(value)) {
    for (const [step, child] of Object.entries(value)) {
      yield { step, child, next: prefixesOfMember(prefixes, step) };
    }
    return;
  }
  const named = namedPrefixes(prefixes);
  for (const [step, child] of (value as unknown[]).entries()) {
    if (child !== null) {
      yield { step, child, next: prefixesAt(prefixes, step, named) };
    }
  }
}

/** Whether there can be something below that a key takes, so that the value is not lost as a whole. */
function leadsOn(value: unknown, { next }: Prefixes, path: string): value is object {
  if (Array.isArray(value)) {
    return next.size > 0 && value.some((element) => element !== null);
  }
  return isJsonObject(value) && (path === '' || next.size > 0);
}

/** An index leads to a member of that name too. */
function prefixesOfMember({ next }: Prefixes, name: string): Prefixes | undefined {
  return next.get(name) ?? (/^\d{1,4}$/.test(name) ? next.get(Number(name)) : undefined);
}

/** One step as paths are written: `name`, `.name`, `[0]` or `["any name"]`. */
function pathStep(step: string | number, isFirst: boolean): string {
  if (typeof step === 'number') {
    return `[${step}]`;
  }
  const isPlain = /^[^.[\]"'\s][^.[\]"']*$/.test(step);
  return isPlain ? `${isFirst ? '' : '.'}${step}` : `[${JSON.stringify(step)}]`;
}

function prefixesOf(keys: readonly string[]): Prefixes {
  const root: Prefixes = { complete: false, next: new Map() };
  for (const key of keys) {
    if (key === EVERYTHING) {
      root.complete = true;
    } else {
      add(root, parsePath(key.endsWith(`.${EVERYTHING}`) ? key.slice(0, -2) : key));
    }
  }
  return root;
}

function add(root: Prefixes, path: DataPath): void {
  let at = root;
  for (const segment of path) {
    const next = at.next.get(segment) ?? { complete: false, next: new Map<string | number, Prefixes>() };
    at.next.set(segment, next);
    at = next;
  }
  at.complete = true;
}

/** What the prefixes keep of a value; undefined when that is nothing. */
function picked(value: unknown, prefixes: Prefixes | undefined): unknown {
  if (prefixes === undefined) {
    return undefined;
  }
  if (prefixes.complete) {
    return value;
  }
  if (Array.isArray(value)) {
    return pickedElements(value, prefixes);
  }
  if (!isJsonObject(value)) {
    return undefined;
  }
  const kept: JsonObject = {};
  for (const [segment, next] of prefixes.next) {
    const member = picked(childOf(value, segment), next);
    if (member !== undefined) {
      kept[String(segment)] = member;
    }
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function pickedElements(elements: readonly unknown[], prefixes: Prefixes): unknown[] | undefined {
  const named = namedPrefixes(prefixes);
  const kept = elements.map((element, index) => picked(element, prefixesAt(prefixes, index, named)));
  const last = kept.findLastIndex((element) => element !== undefined);
  return last < 0 ? undefined : kept.slice(0, last + 1).map((element) => element ?? null);
}

function omitted(value: unknown, prefixes: Prefixes): unknown {
  if (Array.isArray(value)) {
    return omittedElements(value, prefixes);
  }
  if (!isJsonObject(value)) {
    return value;
  }
  const kept: JsonObject = { ...value };
  for (const [segment, next] of prefixes.next) {
    const name = String(segment);
    if (next.complete) {
      delete kept[name];
    } else if (Object.hasOwn(kept, name)) {
      kept[name] = omitted(kept[name], next);
    }
  }
  return kept;
}

function omittedElements(elements: readonly unknown[], prefixes: Prefixes): unknown[] {
  const named = namedPrefixes(prefixes);
  return elements.flatMap((element, index) => {
    const next = prefixesAt(prefixes, index, named);
    return next.complete ? [] : [omitted(element, next)];
  });
}

/** The prefixes that go on by a name, so they hold for each element. */
function namedPrefixes(prefixes: Prefixes): Prefixes {
  return { complete: false, next: new Map([...prefixes.next].filter(([step]) => typeof step === 'string')) };
}

/** What holds for one element: the prefixes that name its index, and those that hold for each. */
function prefixesAt(prefixes: Prefixes, index: number, named: Prefixes): Prefixes {
  const own = prefixes.next.get(index);
  return own === undefined ? named : merged(named, own);
}

/** All that either of two names; as deep as they both go on. */
function merged(one: Prefixes, other: Prefixes): Prefixes {
  if (one.complete || other.complete) {
    return { complete: true, next: new Map() };
  }
  const next = new Map(one.next);
  for (const [step, prefixes] of other.next) {
    const same = next.get(step);
    next.set(step, same === undefined ? prefixes : merged(same, prefixes));
  }
  return { complete: false, next };
}
