import type { JsonObject } from '../../json/json.js';
import { yieldEventLoop } from '../../support/yield-event-loop.js';
import { DATA_ALIAS } from '../../expressions/cel-source.js';
import {
  pathsInExpression,
  pathsInJson,
  pathsInTemplate,
  type ReadPath,
} from '../../expressions/read-paths.js';
import { CheckWork, KnownMembers } from '../../json-schema/known-members.js';
import { KnownData, type DataSources } from '../../json-schema/known-data.js';
import { keyTree, parseKey, writePath } from '../../paths/data-keys.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import type {
  GraphAction,
  GraphNode,
  GraphUiAction,
  ProcessGraph,
  WorkflowOutputs,
} from '../model/process-graph.types.js';

/** Maximum number of members and names visited per process. */
const MAX_WORK = 500_000;
/** Maximum number of expression characters parsed again per process. */
const MAX_TEXT = 200_000;
/** Wildcard key for all data. */
export const EVERYTHING = '*';

/** Paths read at one place, with the element that contains it. */
interface Reads {
  readonly element: string;
  /** Characters. */
  readonly length: number;
  readonly paths: () => ReadPath[];
  readonly isDataOnly?: boolean;
}

/**
 * Checks the names that conditions and `${…}` of a process read against its schemas, keys and results (docs/bpmn.md, "Names that are
 * read"). Where further data may come in, only likely typos are reported.
 */
export async function checkDataNames(
  graph: ProcessGraph,
  problems: DefinitionProblems,
  outputs: WorkflowOutputs = new Map(),
): Promise<void> {
  const work = new CheckWork(MAX_WORK);
  const sources = sourcesOf(graph, outputs, work);
  const known = new KnownData(sources, work);
  let left = MAX_TEXT;
  for (const { element, length, paths, isDataOnly } of readsOf(graph)) {
    left -= length;
    if (left < 0) {
      return;
    }
    for (const read of paths()) {
      const path = withoutAlias(read, sources);
      const unknown = known.check(path, isDataOnly);
      if (unknown !== undefined) {
        const hint = unknown.nearest === undefined ? '' : ` Did you mean ${JSON.stringify(unknown.nearest)}?`;
        const message = `"${writePath(path)}" is read here, but no schema, key or result of the process defines it.${hint}`;
        problems.warning('NAME_UNKNOWN', element, message);
      }
    }
    await yieldEventLoop();
  }
}

/** Removes the alias for all data from a path, unless the data has a member with that name. */
export function withoutAlias(read: ReadPath, { input, written }: DataSources): ReadPath {
  const speaksOfAlias = [input, ...written].some(({ names }) => names.has(DATA_ALIAS));
  return read[0] === DATA_ALIAS && !speaksOfAlias ? read.slice(1) : read;
}

/** Collects what is known about the data of a process, by origin. */
export function sourcesOf(
  { nodes, inputSchema }: ProcessGraph,
  outputs: WorkflowOutputs,
  work: CheckWork,
): DataSources {
  const saved = nodes.flatMap(({ actions }) => actions.flatMap(savedBy));
  const written = saved.length === 0 ? [] : [KnownMembers.ofValues(saved, work)];
  const taken: string[][] = [];
  let isOpen = nodes.some(takesForeignData);
  for (const node of nodes) {
    const { actions, uiActions } = node;
    for (const { key, schema } of resultsOf(node, outputs)) {
      if (schema === undefined) {
        taken.push(namesOf(key));
      } else {
        written.push(KnownMembers.ofSchemaAt(namesOf(key), schema, work));
      }
    }
    for (const action of actions.filter(({ manual }) => manual)) {
      const input = inputOf(
        uiActions.filter((uiAction) => uiAction.action === action.name),
        work,
      );
      written.push(...input.known);
      if (!input.isWhole && action.keys.includes(EVERYTHING)) {
        isOpen = true;
      } else if (!input.isWhole) {
        taken.push(...action.keys.map(namesOf));
      }
    }
  }
  return { input: KnownMembers.ofSchema(inputSchema, work), written, taken: keyTree(taken), isOpen };
}

/** Returns what is known about user input, and whether schemas describe it completely. */
function inputOf(
  uiActions: readonly GraphUiAction[],
  work: CheckWork,
): { known: KnownMembers[]; isWhole: boolean } {
  const schemas = uiActions.map(({ bodySchema }) => KnownMembers.ofSchema(bodySchema, work));
  const bodies = uiActions.flatMap(({ body }) => (body === null ? [] : [body]));
  return {
    known: [...schemas, ...(bodies.length === 0 ? [] : [KnownMembers.ofValues(bodies, work)])],
    isWhole: schemas.every((schema) => schema.look(['\0']).found === 'missing'),
  };
}

/** Whether a node brings unknown data: a message its payload, a called process what it appends to its caller. */
function takesForeignData({ event, kind, call, actions }: GraphNode): boolean {
  return (
    (event?.type === 'MESSAGE' && kind !== 'SEND_TASK') ||
    kind === 'RECEIVE_TASK' ||
    call !== null ||
    actions.some(({ operation }) => operation.kind === 'START_SUBPROCESS')
  );
}

/** Path of a result, and its complete schema if known. */
interface Result {
  readonly key: string;
  readonly schema?: JsonObject | undefined;
}

/** Returns the results of a node. @param outputs output schemas of workflows */
export function resultsOf({ actions, call }: GraphNode, outputs: WorkflowOutputs = new Map()): Result[] {
  const results: Result[] = call === null || call.outputKey === null ? [] : [{ key: call.outputKey }];
  return [...results, ...actions.flatMap((action) => resultOf(action, outputs))];
}

/** Returns the result of an action. For an element of a list, the schema is left out, as it says nothing about the others. */
function resultOf({ operation }: GraphAction, outputs: WorkflowOutputs): Result[] {
  if (operation.kind !== 'START_WORKFLOW' || operation.resultKey === null) {
    return [];
  }
  const { resultKey: key, appId, workflow } = operation;
  const isWhole = appId === null && parseKey(key).every((step) => typeof step === 'string');
  return [{ key, schema: isWhole ? outputs.get(workflow) : undefined }];
}

/** Returns the template data that an action saves. */
export function savedBy({ operation }: GraphAction): JsonObject[] {
  return operation.kind === 'SAVE_DATA' && operation.data !== null ? [operation.data] : [];
}

/** Returns the names in a key, without indexes, since a schema applies to every element of a list. */
export function namesOf(key: string): string[] {
  return parseKey(key).filter((step) => typeof step === 'string');
}

function* readsOf({ key, searchable = [], flows, nodes }: ProcessGraph): Iterable<Reads> {
  for (const path of searchable) {
    yield { element: key, length: path.length, paths: () => [namesOf(path)], isDataOnly: true };
  }
  for (const flow of flows) {
    yield* inExpression(flow.key, flow.condition);
  }
  for (const node of nodes) {
    yield* readsOfNode(node);
    for (const action of node.actions) {
      yield* readsOfAction(node.key, action);
    }
  }
}

function* readsOfNode({ key, kind, event, condition, call, timeout }: GraphNode): Iterable<Reads> {
  yield* inExpression(key, condition);
  yield* inExpression(key, call?.multiInstance?.collection ?? null);
  yield* inTemplate(key, timeout);
  // No data exists before a process starts.
  if (event !== null && kind !== 'START_EVENT') {
    yield* inTemplate(key, event.type === 'TIMER' ? event.timer.expression : null);
    yield* inExpression(key, event.type === 'MESSAGE' ? event.correlation : null);
  }
}

function* readsOfAction(element: string, { delay, operation }: GraphAction): Iterable<Reads> {
  yield* inTemplate(element, delay);
  switch (operation.kind) {
    case 'SAVE_DATA':
      yield* inJson(element, operation.data);
      break;
    case 'START_WORKFLOW':
      yield* inJson(element, operation.input);
      break;
    case 'SEND_MESSAGE':
      yield* inExpression(element, operation.correlation);
      yield* inJson(element, operation.payload);
      break;
    case 'START_SUBPROCESS':
    case 'APPEND_TO_PARENT':
  }
}

function* inExpression(element: string, source: string | null): Iterable<Reads> {
  if (source !== null) {
    yield { element, length: source.length, paths: () => pathsInExpression(source) };
  }
}

function* inTemplate(element: string, source: string | null): Iterable<Reads> {
  if (source !== null && source.includes('${')) {
    yield { element, length: source.length, paths: () => pathsInTemplate(source) };
  }
}

function* inJson(element: string, value: JsonObject | null): Iterable<Reads> {
  if (value !== null) {
    yield { element, length: JSON.stringify(value).length, paths: () => pathsInJson(value) };
  }
}
