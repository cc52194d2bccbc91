import { omitKeys, untakenPaths } from '../../../common/data-keys.js';
import { parsePath, type JsonObject } from '../../../common/data-paths.js';
import { nearestName } from '../../../common/nearest-name.js';
import type { GraphAction, GraphUiAction, ProcessGraph } from '../process-graph.types.js';
import type { Problems } from '../problems.js';
import { KnownShape } from './known-shape.js';

/** Keys of one process that are looked at: nobody reads more. */
const MAX_KEYS = 1_000;
/** Names of one process that hints are looked for: each compares a name with all that are known. */
const MAX_HINTS = 50;
/** Members of one UI action that are told. */
const MAX_MEMBERS = 5;
/** Short names are near to many others that mean something else. */
const HINT_MIN_LENGTH = 6;
const EVERYTHING = '*';

/**
 * Compares the `keys` of manual actions with the input that schemas and default bodies speak of (docs/bpmn.md, "Keys and input"): a
 * key that names nothing loses what a person sends, and a member that no key takes is refused when it is sent.
 */
export function checkActionKeys(graph: ProcessGraph, problems: Problems): void {
  const check = new ActionKeysCheck(graph, problems);
  for (const node of graph.nodes) {
    for (const action of node.actions.filter(({ manual, keys }) => manual && !keys.includes(EVERYTHING))) {
      const uiActions = node.uiActions.filter((uiAction) => uiAction.action === action.name);
      if (uiActions.length > 0) {
        check.check(action, uiActions, node.key);
      }
    }
  }
}

class ActionKeysCheck {
  private readonly input: KnownShape;
  /** What the process writes by itself. */
  private readonly written: readonly KnownShape[];
  private readonly results: readonly (readonly string[])[];
  private keysLeft = MAX_KEYS;
  private hintsLeft = MAX_HINTS;

  constructor(
    { inputSchema, nodes }: ProcessGraph,
    private readonly problems: Problems,
  ) {
    this.input = KnownShape.ofSchema(inputSchema);
    const operations = nodes.flatMap(({ actions }) => actions.map(({ operation }) => operation));
    this.written = operations.flatMap((operation) =>
      operation.kind === 'SAVE_DATA' && operation.data !== null ? [KnownShape.ofValue(operation.data)] : [],
    );
    this.results = [
      ...operations.map((operation) => (operation.kind === 'START_WORKFLOW' ? operation.resultKey : null)),
      ...nodes.map(({ call }) => call?.outputKey ?? null),
    ].flatMap((path) => (path === null ? [] : [namesOf(path)]));
  }

  check(action: GraphAction, uiActions: readonly GraphUiAction[], element: string): void {
    const schemas = uiActions.map(({ bodySchema }) => KnownShape.ofSchema(bodySchema));
    const bodies = uiActions.flatMap(({ body }) => (body === null ? [] : [KnownShape.ofValue(body)]));
    for (const key of action.keys) {
      this.keysLeft -= 1;
      const path = namesOf(key);
      const known = [...schemas, ...bodies, this.input, ...this.written];
      if (
        this.keysLeft >= 0 &&
        !known.some((shape) => shape.look(path).found === 'named') &&
        !this.results.some((result) => overlap(result, path))
      ) {
        this.tellKey(key, path, { action, schemas, element });
      }
    }
    uiActions.forEach((uiAction, index) => this.checkInput(uiAction, schemas[index], { action, element }));
  }

  /** Where input may be anything, only a name that is nearly one of the input schema is worth a word. */
  private tellKey(
    key: string,
    path: readonly string[],
    { action, schemas, element }: { action: GraphAction; schemas: readonly KnownShape[]; element: string },
  ): void {
    const isSpokenOf = schemas.every((shape) => shape.look(path).found === 'missing');
    const looked = isSpokenOf ? schemas.map((shape) => shape.look(path)) : [this.input.look(path)];
    const missing = looked.flatMap((look) => (look.found === 'missing' ? [look] : []));
    const nearest = missing.flatMap(({ siblings, at }) => {
      const name = this.nearest(path[at] ?? '', siblings);
      return name === undefined ? [] : [{ name, path: [...path.slice(0, at), name] }];
    })[0];
    const isSlip = nearest !== undefined && nearest.name.length >= HINT_MIN_LENGTH;
    if (missing.length > 0 && (isSpokenOf || isSlip)) {
      const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest.path.join('.'))}?`;
      const message = `Key "${key}" of action "${action.name}" names nothing that a schema or a default body speaks of: what a person sends under another name is not stored.${hint}`;
      this.problems.warning('KEY_NAMES_NOTHING', element, message);
    }
  }

  private nearest(name: string, known: readonly string[]): string | undefined {
    this.hintsLeft -= 1;
    return this.hintsLeft < 0 ? undefined : nearestName(name, known);
  }

  private checkInput(
    { name, body, excludeKeys }: GraphUiAction,
    schema: KnownShape | undefined,
    { action, element }: { action: GraphAction; element: string },
  ): void {
    // The schema speaks of elements of lists, not of their numbers.
    const keys = action.keys.slice(0, MAX_KEYS).map(withoutIndexes);
    const samples = [schema === undefined ? {} : sampleOf(schema, keys.map(namesOf)), body ?? {}];
    const untaken = samples.flatMap((sample) =>
      untakenPaths(omitKeys(sample, excludeKeys), keys, MAX_MEMBERS),
    );
    for (const path of new Set(untaken)) {
      const nearest = this.nearest(path, action.keys);
      const hint = nearest === undefined ? '' : ` The nearest key is "${nearest}".`;
      const message = `No key of action "${action.name}" takes "${path}" of UI action "${name}", so such input is refused. Add it to keys, or take it out.${hint}`;
      this.problems.warning('INPUT_NOT_TAKEN', element, message);
    }
  }
}

/** Data with all members that a schema names, as deep as keys lead. */
function sampleOf(shape: KnownShape, keys: readonly (readonly string[])[]): JsonObject {
  return Object.fromEntries(
    [...shape.names].map((name) => {
      const below = keys.flatMap(([first, ...rest]) => (first === name && rest.length > 0 ? [rest] : []));
      return [name, below.length === 0 ? true : sampleOf(shape.member(name), below)];
    }),
  );
}

/** The names in a path: what a schema says of a list holds for each of its elements. */
function namesOf(path: string): string[] {
  const whole = path.endsWith('.*') ? path.slice(0, -2) : path;
  return parsePath(whole).filter((step) => typeof step === 'string');
}

function withoutIndexes(key: string): string {
  return key.replaceAll(/\[\d{1,9}\]/g, '');
}

/** Whether one path leads to the other or below it. */
function overlap(one: readonly string[], other: readonly string[]): boolean {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((name, index) => name === other[index]);
}
