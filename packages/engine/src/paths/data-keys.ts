import { isJsonObject, type JsonObject } from '../json/json.js';
import { parsePath, type DataPath } from './data-paths.js';
import { cached } from '../support/cached.js';

/** Written instead of paths: everything. */
const EVERYTHING = '*';

/** What keys name, as a tree of their steps. */
export interface KeyTree {
  /** A key ends here, so all below belongs to it. */
  isTaken: boolean;
  readonly names: Map<string, KeyTree>;
  readonly indexes: Map<number, KeyTree>;
}

/** All trees that hold at one place of the data. A name for an array holds for each of its elements. */
type Holding = readonly KeyTree[];

/** What many trees say together, worked out once: a place in the data must not cost more because there are many keys. */
interface Shared {
  readonly isTaken: boolean;
  readonly names: ReadonlyMap<string, Holding>;
  readonly indexes: ReadonlyMap<number, Holding>;
  /** For elements that were met. */
  readonly elements: Map<number, Holding>;
  readonly ofEach: Holding;
}

const FEW_TREES = 8;
const NOTHING: Holding = [];
const NO_INDEXES: KeyTree['indexes'] = new Map();
const shared = new WeakMap<Holding, Shared>();
/** Keys belong to definitions, which are held as long as they are used: they are parsed once. */
const known = new WeakMap<readonly string[], KeyTree>();

/**
 * A copy of the data with nothing but the paths of the whitelist (docs/process-semantics.md, section 6). Each key is a path,
 * and everything at and below it is kept; `a.*` means `a`. `[]` keeps nothing, `['*']` everything. A name that meets an array
 * holds for each of its elements; an element that is not kept, before one that is, becomes null.
 * @throws InvalidDataPathError when a key is malformed
 */
export function pickKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  return (picked(data, [treeOf(keys)]) ?? {}) as JsonObject;
}

/**
 * A copy of the data without what the keys name; the counterpart of {@link pickKeys}.
 * @throws InvalidDataPathError when a key is malformed
 */
export function omitKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  const tree = treeOf(keys);
  return tree.isTaken ? {} : (omitted(data, [tree]) as JsonObject);
}

/**
 * The paths that {@link pickKeys} would take away: of the topmost values that no key takes, written as keys are. A null in an
 * array and an object without members on the way to a key hold nothing that could be lost.
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

/** A tree of paths; the whole of what each leads to is taken. */
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

/** A path as keys are written: `client.addresses[0]["any name"]`. */
export function writePath(path: DataPath): string {
  return path.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : pathStep(step, text === '')),
    '',
  );
}

/** The path of a key: `a.*` is the same as `a`. */
export function parseKey(key: string): DataPath {
  return parsePath(key.endsWith(`.${EVERYTHING}`) ? key.slice(0, -2) : key);
}

/**
 * Keys and their beginnings, to compare with a path that no key takes: `clinet.name` was meant for `client`.
 * @param keys paths as `pickKeys` takes them
 * @returns the key of each; of several that begin with it the first
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

function isTaken(trees: Holding): boolean {
  return trees.length > FEW_TREES ? sharedOf(trees).isTaken : trees.some((tree) => tree.isTaken);
}

/** What holds for a member. An index leads to a member of that name too. */
function ofMember(trees: Holding, name: string): Holding {
  if (trees.length > FEW_TREES) {
    return sharedOf(trees).names.get(name) ?? NOTHING;
  }
  const index = /^(0|[1-9]\d{0,3})$/.test(name) ? Number(name) : -1;
  return trees.flatMap(({ names, indexes }) => {
    const own = names.get(name);
    const same = indexes.get(index);
    return [...(own === undefined ? [] : [own]), ...(same === undefined ? [] : [same])];
  });
}

/** The trees for each element of an array: those that go on by a name. */
function ofEachElement(trees: Holding): Holding {
  return trees.length > FEW_TREES ? sharedOf(trees).ofEach : goingOnByName(trees);
}

function goingOnByName(trees: Holding): Holding {
  return trees
    .filter(({ names }) => names.size > 0)
    .map((tree) => (tree.indexes.size === 0 ? tree : { ...tree, indexes: NO_INDEXES }));
}

function ofElement(trees: Holding, ofEach: Holding, index: number): Holding {
  if (trees.length > FEW_TREES) {
    const { indexes, elements } = sharedOf(trees);
    const at = indexes.get(index);
    return at === undefined ? ofEach : cached(elements, index, () => [...ofEach, ...at]);
  }
  const own = trees.flatMap(({ indexes }) => indexes.get(index) ?? []);
  return own.length === 0 ? ofEach : [...ofEach, ...own];
}

function sharedOf(trees: Holding): Shared {
  return cached(shared, trees, () => {
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
    return { isTaken: isAnyTaken, names, indexes, elements: new Map(), ofEach: goingOnByName(trees) };
  });
}

interface Untaken {
  readonly found: string[];
  readonly limit: number;
}

function addUntaken(value: unknown, trees: Holding, path: string, result: Untaken): void {
  if (result.found.length >= result.limit || isTaken(trees)) {
    return;
  }
  if (trees.length > 0 && leadsOn(value)) {
    addUntakenBelow(value, trees, path, result);
  } else {
    result.found.push(path);
  }
}

function addUntakenBelow(value: object, trees: Holding, path: string, result: Untaken): void {
  if (!Array.isArray(value)) {
    for (const [name, child] of Object.entries(value)) {
      if (result.found.length >= result.limit) {
        return;
      }
      addUntaken(child, ofMember(trees, name), path + pathStep(name, path === ''), result);
    }
    return;
  }
  const ofEach = ofEachElement(trees);
  for (const [index, child] of (value as unknown[]).entries()) {
    if (child !== null) {
      addUntaken(child, ofElement(trees, ofEach, index), `${path}[${index}]`, result);
    }
  }
}

/** Whether there can be something below that a key takes, so that the value is not lost as a whole. */
function leadsOn(value: unknown): value is object {
  return Array.isArray(value) ? value.some((element) => element !== null) : isJsonObject(value);
}

/** One step as paths are written: `name`, `.name` or `["any name"]`. */
function pathStep(name: string, isFirst: boolean): string {
  const isPlain = /^[^.[\]"'\s][^.[\]"']*$/.test(name);
  return isPlain ? `${isFirst ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
}

/** What is kept of a value; undefined when that is nothing. */
function picked(value: unknown, trees: Holding): unknown {
  if (trees.length === 0) {
    return undefined;
  }
  if (isTaken(trees)) {
    return value;
  }
  if (Array.isArray(value)) {
    const ofEach = ofEachElement(trees);
    const kept = value.map((element, index) => picked(element, ofElement(trees, ofEach, index)));
    const last = kept.findLastIndex((element) => element !== undefined);
    return last < 0 ? undefined : kept.slice(0, last + 1).map((element) => element ?? null);
  }
  if (!isJsonObject(value)) {
    return undefined;
  }
  const kept = Object.entries(value).flatMap(([name, child]) => {
    const member = picked(child, ofMember(trees, name));
    return member === undefined ? [] : [[name, member] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function omitted(value: unknown, trees: Holding): unknown {
  if (Array.isArray(value) && trees.length > 0) {
    const ofEach = ofEachElement(trees);
    return value.flatMap((element, index) => left(element, ofElement(trees, ofEach, index)));
  }
  if (!isJsonObject(value) || trees.length === 0) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, child]) =>
      left(child, ofMember(trees, name)).map((member) => [name, member] as const),
    ),
  );
}

/** What is left of a part, in a list; an empty one when it is taken as a whole. */
function left(part: unknown, trees: Holding): unknown[] {
  return isTaken(trees) ? [] : [omitted(part, trees)];
}
