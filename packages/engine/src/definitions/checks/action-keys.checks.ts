import { CheckWork, KnownMembers } from '../../json-schema/known-members.js';
import { overlaps } from '../../json-schema/known-data.js';
import { keyTree, omitKeys, untakenPaths, writePath, type KeyTree } from '../../paths/data-keys.js';
import type { JsonObject } from '../../json/json.js';
import { keyBeginnings } from '../../paths/data-keys.js';
import { nearestName } from '../../support/nearest-name.js';
import { groupedBy } from '../../support/cached.js';
import { yieldEventLoop } from '../../support/yield-event-loop.js';
import type { GraphAction, GraphUiAction, ProcessGraph } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { EVERYTHING, namesOf, resultsOf, savedBy } from './data-names.checks.js';

/** Two names separated by a space, outside brackets. */
const TWO_NAMES = /^[\w.]+\s+\w/;
/** Maximum number of keys checked per process. */
const MAX_KEYS = 1_000;
/** Maximum number of keys, members and names visited per process. */
const MAX_WORK = 500_000;
/** Maximum number of hints per process: each compares a name with all known names. */
const MAX_HINTS = 50;
/** Character pairs compared per step of work. */
const PAIRS = 100;
/** Maximum number of character pairs compared for one hint. */
const MAX_PAIRS = 5_000_000;
/** Maximum number of members reported per UI action. */
const MAX_MEMBERS = 5;
/** Shorter names resemble too many unrelated names. */
const HINT_MIN_LENGTH = 6;

/** An action with its parsed keys, shared by its UI actions. */
interface ParsedAction {
  readonly action: GraphAction;
  readonly keys: readonly { readonly key: string; readonly path: readonly string[] }[];
  /** Without indexes, since a schema describes all elements of a list. */
  readonly tree: KeyTree;
  readonly element: string;
}

/**
 * Compares the `keys` of manual actions with the input that schemas and default bodies define (docs/bpmn.md, "Keys and input"). A key
 * that matches nothing loses user input. A member that no key takes is refused when it is sent.
 */
export async function checkActionKeys(graph: ProcessGraph, problems: DefinitionProblems): Promise<void> {
  const check = new ActionKeysCheck(graph, problems);
  for (const node of graph.nodes) {
    const uiActions = groupedBy(node.uiActions, ({ action }) => action);
    for (const action of node.actions.filter(({ manual, keys }) => manual && !keys.includes(EVERYTHING))) {
      await check.check(action, uiActions.get(action.name) ?? [], node.key);
    }
    await yieldEventLoop();
  }
}

class ActionKeysCheck {
  private readonly work = new CheckWork(MAX_WORK);
  private readonly input: KnownMembers;
  /** Values that the process writes itself. */
  private readonly written: KnownMembers;
  /** Paths of results. */
  private readonly results: KeyTree;
  private keysLeft = MAX_KEYS;
  private hintsLeft = MAX_HINTS;

  constructor(
    { inputSchema, nodes }: ProcessGraph,
    private readonly problems: DefinitionProblems,
  ) {
    this.input = KnownMembers.ofSchema(inputSchema, this.work);
    const saved = nodes.flatMap(({ actions }) => actions.flatMap(savedBy));
    this.written = KnownMembers.ofValues(saved, this.work);
    const results = nodes.flatMap((node) => resultsOf(node));
    this.results = keyTree(results.map(({ key }) => namesOf(key)));
  }

  async check(action: GraphAction, uiActions: readonly GraphUiAction[], element: string): Promise<void> {
    if (uiActions.length === 0 || !this.hasRoomFor(action)) {
      return;
    }
    const keys = action.keys.map((key) => ({ key, path: namesOf(key) }));
    const parsed = { action, keys, tree: keyTree(keys.map(({ path }) => path)), element };
    const schemas = uiActions.map(({ bodySchema }) => KnownMembers.ofSchema(bodySchema, this.work));
    await this.checkKeys(parsed, uiActions, schemas);
    for (const [index, uiAction] of uiActions.entries()) {
      this.checkInput(uiAction, schemas[index], parsed);
      await yieldEventLoop();
    }
  }

  /** Whether the limits allow checking all keys of an action; checking only some would be unreliable. */
  private hasRoomFor({ keys }: GraphAction): boolean {
    this.keysLeft -= keys.length;
    return this.keysLeft >= 0 && !this.work.isSpent;
  }

  private async checkKeys(
    parsed: ParsedAction,
    uiActions: readonly GraphUiAction[],
    schemas: readonly KnownMembers[],
  ): Promise<void> {
    const defaults = uiActions.flatMap(({ body }) => (body === null ? [] : [body]));
    const known = [...schemas, KnownMembers.ofValues(defaults, this.work), this.input, this.written];
    for (const { key, path } of parsed.keys) {
      const isNamed =
        overlaps(this.results, path) || known.some((members) => members.look(path).found === 'named');
      if (this.work.isSpent) {
        return;
      }
      if (!isNamed) {
        this.reportKey(key, path, { parsed, schemas });
      }
      await yieldEventLoop();
    }
  }

  /** Reports a key. If input may be anything, only likely typos of names in the input schema are reported. */
  private reportKey(
    key: string,
    path: readonly string[],
    { parsed, schemas }: { parsed: ParsedAction; schemas: readonly KnownMembers[] },
  ): void {
    const isDescribed = schemas.every((members) => members.look(path).found === 'missing');
    const places = isDescribed ? schemas : [this.input];
    const missing = places.filter((members) => members.look(path).found === 'missing');
    const nearest = missing.flatMap((members) => this.nearestPath(members, path) ?? [])[0];
    const isTypo = nearest !== undefined && nearest.name.length >= HINT_MIN_LENGTH;
    if (missing.length > 0 && (isDescribed || isTypo)) {
      const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest.path)}?`;
      const slip = TWO_NAMES.test(key) ? ' Is a comma missing in it?' : '';
      const message = `Key "${key}" of action "${parsed.action.name}" matches nothing in a schema or default body, so it takes no input.${slip}${hint}`;
      this.problems.warning('KEY_NAMES_NOTHING', parsed.element, message);
    }
  }

  /** Replaces each missing name of a path by the closest known one, as far as possible. Also returns the first replacement. */
  private nearestPath(
    members: KnownMembers,
    path: readonly string[],
  ): { name: string; path: string } | undefined {
    let right = [...path];
    let first: string | undefined;
    for (let look = members.look(right); look.found === 'missing'; look = members.look(right)) {
      const name = this.nearest(right[look.at] ?? '', [...look.siblings]);
      right = name === undefined ? right.slice(0, look.at) : right.with(look.at, name);
      first ??= name;
      if (first === undefined) {
        return undefined;
      }
    }
    return first === undefined ? undefined : { name: first, path: writePath(right) };
  }

  private nearestKey(path: string, keys: readonly string[]): string | undefined {
    const beginnings = this.hintsLeft <= 0 ? new Map<string, string>() : keyBeginnings(keys, MAX_KEYS);
    const nearest = this.nearest(path, [...beginnings.keys()]);
    return nearest === undefined ? undefined : beginnings.get(nearest);
  }

  private nearest(name: string, names: readonly string[]): string | undefined {
    this.hintsLeft -= 1;
    if (this.hintsLeft < 0) {
      return undefined;
    }
    const pairs = name.length * names.reduce((length, other) => length + other.length, 0);
    return pairs <= MAX_PAIRS && this.work.spend(pairs / PAIRS) ? nearestName(name, names) : undefined;
  }

  private checkInput(
    { name, body, excludeKeys }: GraphUiAction,
    schema: KnownMembers | undefined,
    { action, tree, element }: ParsedAction,
  ): void {
    const samples = [schema === undefined ? {} : sampleOf(schema, tree, this.work), body ?? {}];
    const untaken = samples.flatMap((sample) =>
      untakenPaths(omitKeys(sample, excludeKeys), tree, MAX_MEMBERS),
    );
    for (const path of new Set(untaken)) {
      const nearest = this.nearestKey(path, action.keys);
      const hint = nearest === undefined ? '' : ` The nearest key is "${nearest}".`;
      const message = `No key of action "${action.name}" takes "${path}" of UI action "${name}", so such input is refused. Add it to keys, or remove it.${hint}`;
      this.problems.warning('INPUT_NOT_TAKEN', element, message);
    }
  }
}

/** Builds sample data with all members of a schema, as deep as the keys and the work budget go. */
function sampleOf(members: KnownMembers, keys: KeyTree, work: CheckWork): JsonObject {
  if (!work.spend(members.names.size)) {
    return {};
  }
  return Object.fromEntries(
    [...members.names].map((name) => {
      const below = keys.names.get(name);
      const continues = below !== undefined && !below.isTaken;
      return [name, continues ? sampleOf(members.member(name), below, work) : true];
    }),
  );
}
