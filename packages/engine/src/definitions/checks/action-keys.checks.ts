import { CheckWork, KnownMembers } from '../../json-schema/known-members.js';
import { overlaps } from '../../json-schema/known-data.js';
import { keyTree, omitKeys, untakenPaths, writePath, type KeyTree } from '../../paths/data-keys.js';
import type { JsonObject } from '../../json/json.js';
import { keyBeginnings } from '../../paths/data-keys.js';
import { nearestName } from '../../support/nearest-name.js';
import { groupedBy } from '../../support/cached.js';
import { turnWithRoom } from '../../support/turns.js';
import type { GraphAction, GraphUiAction, ProcessGraph } from '../model/process-graph.types.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { EVERYTHING, namesOf, resultsOf, savedBy } from './data-names.checks.js';

/** Two names with a blank between them, outside of brackets. */
const TWO_NAMES = /^[\w.]+\s+\w/;
/** Keys of one process that are looked at: nobody reads more. */
const MAX_KEYS = 1_000;
/** Keys, members and names of one process that are looked at, all together. */
const MAX_WORK = 500_000;
/** Names of one process that hints are looked for: each compares a name with all that are known. */
const MAX_HINTS = 50;
/** Pairs of characters that are compared in one step of work. */
const PAIRS = 100;
/** Pairs of characters that are compared for one hint. */
const MAX_PAIRS = 5_000_000;
/** Members of one UI action that are told. */
const MAX_MEMBERS = 5;
/** Short names are near to many others that mean something else. */
const HINT_MIN_LENGTH = 6;

/** An action with facts about its keys, worked out once for all its UI actions. */
interface Looked {
  readonly action: GraphAction;
  readonly keys: readonly { readonly key: string; readonly path: readonly string[] }[];
  /** Without the numbers of elements: a schema speaks of elements, not of their numbers. */
  readonly tree: KeyTree;
  readonly element: string;
}

/**
 * Compares the `keys` of manual actions with the input that schemas and default bodies name (docs/bpmn.md, "Keys and input"). A
 * key that names nothing loses input of a person. A member that no key takes is refused when it is sent.
 */
export async function checkActionKeys(graph: ProcessGraph, problems: DefinitionProblems): Promise<void> {
  const check = new ActionKeysCheck(graph, problems);
  for (const node of graph.nodes) {
    const uiActions = groupedBy(node.uiActions, ({ action }) => action);
    for (const action of node.actions.filter(({ manual, keys }) => manual && !keys.includes(EVERYTHING))) {
      await check.check(action, uiActions.get(action.name) ?? [], node.key);
    }
    await turnWithRoom();
  }
}

class ActionKeysCheck {
  private readonly work = new CheckWork(MAX_WORK);
  private readonly input: KnownMembers;
  /** Values that the process writes by itself. */
  private readonly written: KnownMembers;
  /** Where it puts results. */
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
    const looked = { action, keys, tree: keyTree(keys.map(({ path }) => path)), element };
    const schemas = uiActions.map(({ bodySchema }) => KnownMembers.ofSchema(bodySchema, this.work));
    await this.checkKeys(looked, uiActions, schemas);
    for (const [index, uiAction] of uiActions.entries()) {
      this.checkInput(uiAction, schemas[index], looked);
      await turnWithRoom();
    }
  }

  /** What some keys take cannot be judged without the others of the action. */
  private hasRoomFor({ keys }: GraphAction): boolean {
    this.keysLeft -= keys.length;
    return this.keysLeft >= 0 && !this.work.isSpent;
  }

  private async checkKeys(
    looked: Looked,
    uiActions: readonly GraphUiAction[],
    schemas: readonly KnownMembers[],
  ): Promise<void> {
    const defaults = uiActions.flatMap(({ body }) => (body === null ? [] : [body]));
    const known = [...schemas, KnownMembers.ofValues(defaults, this.work), this.input, this.written];
    for (const { key, path } of looked.keys) {
      const isNamed =
        overlaps(this.results, path) || known.some((members) => members.look(path).found === 'named');
      if (this.work.isSpent) {
        return;
      }
      if (!isNamed) {
        this.tellKey(key, path, { looked, schemas });
      }
      await turnWithRoom();
    }
  }

  /** Where input may be anything, only a name that is nearly one of the input schema is worth a word. */
  private tellKey(
    key: string,
    path: readonly string[],
    { looked, schemas }: { looked: Looked; schemas: readonly KnownMembers[] },
  ): void {
    const isSpokenOf = schemas.every((members) => members.look(path).found === 'missing');
    const places = isSpokenOf ? schemas : [this.input];
    const missing = places.filter((members) => members.look(path).found === 'missing');
    const nearest = missing.flatMap((members) => this.nearestPath(members, path) ?? [])[0];
    const isSlip = nearest !== undefined && nearest.name.length >= HINT_MIN_LENGTH;
    if (missing.length > 0 && (isSpokenOf || isSlip)) {
      const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest.path)}?`;
      const slip = TWO_NAMES.test(key) ? ' Is a comma missing in it?' : '';
      const message = `Key "${key}" of action "${looked.action.name}" names nothing that a schema or a default body speaks of, and what a person sends under another name is refused.${slip}${hint}`;
      this.problems.warning('KEY_NAMES_NOTHING', looked.element, message);
    }
  }

  /** The path with each name that is missing replaced by the nearest, as far as there is one; and the first of these names. */
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
    { action, tree, element }: Looked,
  ): void {
    const samples = [schema === undefined ? {} : sampleOf(schema, tree, this.work), body ?? {}];
    const untaken = samples.flatMap((sample) =>
      untakenPaths(omitKeys(sample, excludeKeys), tree, MAX_MEMBERS),
    );
    for (const path of new Set(untaken)) {
      const nearest = this.nearestKey(path, action.keys);
      const hint = nearest === undefined ? '' : ` The nearest key is "${nearest}".`;
      const message = `No key of action "${action.name}" takes "${path}" of UI action "${name}", so such input is refused. Add it to keys, or take it out.${hint}`;
      this.problems.warning('INPUT_NOT_TAKEN', element, message);
    }
  }
}

/** Data with all members that a schema names, as deep as keys lead and work is left. */
function sampleOf(members: KnownMembers, keys: KeyTree, work: CheckWork): JsonObject {
  if (!work.spend(members.names.size)) {
    return {};
  }
  return Object.fromEntries(
    [...members.names].map((name) => {
      const below = keys.names.get(name);
      const leadsOn = below !== undefined && !below.isTaken;
      return [name, leadsOn ? sampleOf(members.member(name), below, work) : true];
    }),
  );
}
