import { isJsonObject, type JsonObject } from '../json/json.js';
import { parsePath, type DataPath } from './data-paths.js';
import { cached } from '../support/cached.js';

/** Wildcard key that selects everything. */
const EVERYTHING = '*';

/** Keys as a tree of path steps. */
export interface KeyTree {
  /** A key ends here, so everything below is taken. */
  isTaken: boolean;
  readonly names: Map<string, KeyTree>;
  readonly indexes: Map<number, KeyTree>;
}

/** All trees that match at one place of the data. A name that meets an array matches each of its elements. */
type Matching = readonly KeyTree[];

/** Many trees merged once, so that a place in the data does not cost more because there are many keys. */
interface Merged {
  readonly isTaken: boolean;
  readonly names: ReadonlyMap<string, Matching>;
  readonly indexes: ReadonlyMap<number, Matching>;
  /** Cache of visited elements. */
  readonly elements: Map<number, Matching>;
  readonly ofEach: Matching;
}

const FEW_TREES = 8;
const NOTHING: Matching = [];
const NO_INDEXES: KeyTree['indexes'] = new Map();
const merged = new WeakMap<Matching, Merged>();
/** Keys live as long as their definition, so they are parsed once. */
const known = new WeakMap<readonly string[], KeyTree>();

/**
 * Copies only the whitelisted paths of the data (docs/process-semantics.md, section 6). Each key is a path; everything at and
 * below it is kept, and `a.*` means `a`. `[]` keeps nothing, `['*']` everything. A name that meets an array matches each of its
 * elements. A dropped element before a kept one becomes null.
 * @throws InvalidDataPathError when a key is malformed
 */
export function pickKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  return (picked(data, [treeOf(keys)]) ?? {}) as JsonObject;
}

/**
 * Copies the data without the paths that the keys name; the counterpart of {@link pickKeys}.
 * @throws InvalidDataPathError when a key is malformed
 */
export function omitKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  const tree = treeOf(keys);
  return tree.isTaken ? {} : (omitted(data, [tree]) as JsonObject);
}

/**
 * Lists the paths that {@link pickKeys} would drop: the topmost values that no key takes, written as keys. Null elements and
 * empty objects on the way to a key are left out, since nothing is lost with them.
 * @param keys not changed afterwards; or their tree
 * @throws InvalidDataPathError when a key is malformed
 */
export function untakenPaths(data: JsonObject, keys: readonly string[] | KeyTree, limit: number): string[] {
  const result = { found: [], limit };
  const tree = 'names' in keys ? keys : treeOf(keys);
  if (!tree.isTaken) {
    addUntakenBelow(data, [tree], '', result);
  }
  return result.found;
}

/** Builds a tree that takes everything at and below the given paths. */
export function keyTree(paths: Iterable<DataPath>): KeyTree {
  const root = emptyTree();
  for (const path of paths) {
    let at = root;
    for (const step of path) {
      at = typeof step === 'string' ? cached(at.names, step, emptyTree) : cached(at.indexes, step, emptyTree);
    }
    at.isTaken = true;
  }
  return root;
}

/** Writes a path as a key: `client.addresses[0]["any name"]`. */
export function writePath(path: DataPath): string {
  return path.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : pathStep(step, text === '')),
    '',
  );
}

/** Parses a key into a path: `a.*` is the same as `a`. */
export function parseKey(key: string): DataPath {
  return parsePath(key.endsWith(`.${EVERYTHING}`) ? key.slice(0, -2) : key);
}

/**
 * Returns keys and their prefixes, to suggest a key for a path that none takes: `clinet.name` may be a typo of `client`.
 * @param keys as for `pickKeys`
 * @returns the first key for each prefix
 */
export function keyBeginnings(keys: readonly string[], limit: number): ReadonlyMap<string, string> {
  const beginnings = new Map(keys.slice(0, limit).map((key) => [key, key]));
  for (const key of keys.slice(0, limit)) {
    const path = parseKey(key);
    for (let length = 1; length < path.length && beginnings.size < limit; length += 1) {
      const beginning = writePath(path.slice(0, length));
      beginnings.set(beginning, beginnings.get(beginning) ?? key);
    }
  }
  return beginnings;
}

function treeOf(keys: readonly string[]): KeyTree {
  return cached(known, keys, () => keyTree(keys.map((key) => (key === EVERYTHING ? [] : parseKey(key)))));
}

function emptyTree(): KeyTree {
  return { isTaken: false, names: new Map(), indexes: new Map() };
}

function isTaken(trees: Matching): boolean {
  return trees.length > FEW_TREES ? mergedOf(trees).isTaken : trees.some((tree) => tree.isTaken);
}

/** Trees that match a member. An index also matches a member with that name. */
function treesOfMember(trees: Matching, name: string): Matching {
  if (trees.length > FEW_TREES) {
    return mergedOf(trees).names.get(name) ?? NOTHING;
  }
  const index = /^(0|[1-9]\d{0,3})$/.test(name) ? Number(name) : -1;
  return trees.flatMap(({ names, indexes }) => {
    const own = names.get(name);
    const same = indexes.get(index);
    return [...(own === undefined ? [] : [own]), ...(same === undefined ? [] : [same])];
  });
}

/** Trees that match every element of an array: those that continue with a name. */
function treesOfEachElement(trees: Matching): Matching {
  return trees.length > FEW_TREES ? mergedOf(trees).ofEach : continuingWithName(trees);
}

function continuingWithName(trees: Matching): Matching {
  return trees
    .filter(({ names }) => names.size > 0)
    .map((tree) => (tree.indexes.size === 0 ? tree : { ...tree, indexes: NO_INDEXES }));
}

function treesOfElement(trees: Matching, ofEach: Matching, index: number): Matching {
  if (trees.length > FEW_TREES) {
    const { indexes, elements } = mergedOf(trees);
    const at = indexes.get(index);
    return at === undefined ? ofEach : cached(elements, index, () => [...ofEach, ...at]);
  }
  const own = trees.flatMap(({ indexes }) => indexes.get(index) ?? []);
  return own.length === 0 ? ofEach : [...ofEach, ...own];
}

function mergedOf(trees: Matching): Merged {
  return cached(merged, trees, () => {
    const names = new Map<string, KeyTree[]>();
    const indexes = new Map<number, KeyTree[]>();
    for (const tree of trees) {
      tree.names.forEach((child, name) => cached(names, name, () => []).push(child));
      tree.indexes.forEach((child, index) => {
        cached(names, String(index), () => []).push(child);
        cached(indexes, index, () => []).push(child);
      });
    }
    const isAnyTaken = trees.some((tree) => tree.isTaken);
    return { isTaken: isAnyTaken, names, indexes, elements: new Map(), ofEach: continuingWithName(trees) };
  });
}

interface Untaken {
  readonly found: string[];
  readonly limit: number;
}

function addUntaken(value: unknown, trees: Matching, path: string, result: Untaken): void {
  if (result.found.length >= result.limit || isTaken(trees)) {
    return;
  }
  if (trees.length > 0 && hasContent(value)) {
    addUntakenBelow(value, trees, path, result);
  } else {
    result.found.push(path);
  }
}

function addUntakenBelow(value: object, trees: Matching, path: string, result: Untaken): void {
  if (!Array.isArray(value)) {
    for (const [name, child] of Object.entries(value)) {
      if (result.found.length >= result.limit) {
        return;
      }
      addUntaken(child, treesOfMember(trees, name), path + pathStep(name, path === ''), result);
    }
    return;
  }
  const ofEach = treesOfEachElement(trees);
  for (const [index, child] of (value as unknown[]).entries()) {
    if (child !== null) {
      addUntaken(child, treesOfElement(trees, ofEach, index), `${path}[${index}]`, result);
    }
  }
}

/** Whether a key could take something below this value. */
function hasContent(value: unknown): value is object {
  return Array.isArray(value) ? value.some((element) => element !== null) : isJsonObject(value);
}

/** Writes one step of a path: `name`, `.name` or `["any name"]`. */
function pathStep(name: string, isFirst: boolean): string {
  const isPlain = /^[^.[\]"'\s][^.[\]"']*$/.test(name);
  return isPlain ? `${isFirst ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
}

/** Returns the kept part of a value, or undefined. */
function picked(value: unknown, trees: Matching): unknown {
  if (trees.length === 0) {
    return undefined;
  }
  if (isTaken(trees)) {
    return value;
  }
  if (Array.isArray(value)) {
    const ofEach = treesOfEachElement(trees);
    const kept = value.map((element, index) => picked(element, treesOfElement(trees, ofEach, index)));
    const last = kept.findLastIndex((element) => element !== undefined);
    return last < 0 ? undefined : kept.slice(0, last + 1).map((element) => element ?? null);
  }
  if (!isJsonObject(value)) {
    return undefined;
  }
  const kept = Object.entries(value).flatMap(([name, child]) => {
    const member = picked(child, treesOfMember(trees, name));
    return member === undefined ? [] : [[name, member] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function omitted(value: unknown, trees: Matching): unknown {
  if (Array.isArray(value) && trees.length > 0) {
    const ofEach = treesOfEachElement(trees);
    return value.flatMap((element, index) => remainder(element, treesOfElement(trees, ofEach, index)));
  }
  if (!isJsonObject(value) || trees.length === 0) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, child]) =>
      remainder(child, treesOfMember(trees, name)).map((member) => [name, member] as const),
    ),
  );
}

/** Returns the rest of a value in a list; an empty list when the whole value is taken. */
function remainder(part: unknown, trees: Matching): unknown[] {
  return isTaken(trees) ? [] : [omitted(part, trees)];
}
