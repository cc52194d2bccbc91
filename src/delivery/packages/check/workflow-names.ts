import type { JsonObject } from '#engine/json';
import {
  DATA_ALIAS,
  pathsInExpression,
  pathsInJson,
  pathsInTemplate,
  type ReadPath,
} from '#engine/expressions';
import { CheckWork, KnownMembers, KnownData } from '#engine/json-schema';
import { keyTree, writePath, parsePath } from '#engine/paths';
import type { PackageProblems } from '../model/package-problems.js';
import type { PackageWorkflow, WorkflowNode } from '../model/package.types.js';

/** Maximum number of members and names that are examined per workflow. */
const MAX_WORK = 500_000;
/** Maximum number of characters of expressions that are examined per workflow. */
const MAX_TEXT = 200_000;

/**
 * Compares the names that conditions and `${…}` of a workflow read with its input schema and the results of its nodes. Where other data is
 * possible, warns only about names that closely resemble a known one.
 */
export function checkWorkflowNames(workflow: PackageWorkflow, problems: PackageProblems): void {
  const work = new CheckWork(MAX_WORK);
  const input = KnownMembers.ofSchema(workflow.inputSchema, work);
  const results = workflow.nodes.map((node) => resultOf(node));
  const fixed = knownOf(results, true, work);
  const written = [...knownOf(results, false, work), ...fixed];
  const taken = keyTree(results.flatMap(({ taken: path }) => (path === null ? [] : [path])));
  const isOpen = results.some((result) => result.isOpen);
  const known = new KnownData({ input, written, fixed, taken, isOpen }, work);
  const definesAlias = [input, ...written].some(({ names }) => names.has(DATA_ALIAS));
  let left = MAX_TEXT;
  for (const node of workflow.nodes) {
    left -= lengthOf(node);
    if (left < 0 || problems.isFull) {
      return;
    }
    for (const read of readsOf(node)) {
      const path = read[0] === DATA_ALIAS && !definesAlias ? read.slice(1) : read;
      const unknown = known.check(path);
      if (unknown !== undefined) {
        const isRestResult = fixed.some(({ names }) => names.has(path[0] ?? ''));
        const hint = hintOf(unknown.nearest, isRestResult);
        const message = `"${writePath(path)}" is read here, but neither the input schema of the workflow nor the result of a node defines it.${hint}`;
        problems.warning('NAME_UNKNOWN', { file: workflow.file, element: node.id }, message);
      }
    }
  }
}

function hintOf(nearest: string | undefined, isRestResult: boolean): string {
  if (nearest !== undefined) {
    return ` Did you mean ${JSON.stringify(nearest)}?`;
  }
  return isRestResult ? ' The result of a REST_ENDPOINT node has data, status and headers.' : '';
}

/** Returns the known members of results; `wanted` selects results that have only these members, or those that may have others. */
function knownOf(results: readonly Result[], wanted: boolean, work: CheckWork): KnownMembers[] {
  return results.flatMap(({ schema, isFixed }) =>
    schema === null || isFixed !== wanted ? [] : [KnownMembers.ofSchema(schema, work)],
  );
}

/** Schema of the result of a REST_ENDPOINT node (docs/workflows.md). */
const REST_ANSWER: JsonObject = {
  properties: {
    data: {},
    status: {},
    headers: {
      properties: Object.fromEntries(
        ['content-type', 'etag', 'last-modified', 'location', 'retry-after'].map((name) => [name, {}]),
      ),
    },
  },
};

interface Result {
  /** Schema of the data including the result; null if the result is unknown. */
  schema: JsonObject | null;
  /** Path under which anything may be stored; null for none. */
  taken: string[] | null;
  /** Whether the result may be stored anywhere. */
  isOpen: boolean;
  /** Whether it has no other members than those of its schema. */
  isFixed: boolean;
}

const NOTHING: Result = { schema: null, taken: null, isOpen: false, isFixed: false };

function resultOf({ type, responseKey, aiOptions }: WorkflowNode): Result {
  if (responseKey === null || responseKey === '') {
    return { ...NOTHING, isOpen: type === 'DATA_MAPPING' };
  }
  const path = namesOf(responseKey);
  if (type === 'REST_ENDPOINT') {
    return { ...NOTHING, schema: below(path, REST_ANSWER), isFixed: true };
  }
  const schema = type === 'CUSTOM_AGENT' ? aiOptions?.exampleOutputJsonSchema : undefined;
  // References within the schema are relative to its root, which would change.
  return schema === undefined || JSON.stringify(schema).includes('"$ref"')
    ? { ...NOTHING, taken: path }
    : { ...NOTHING, schema: below(path, schema) };
}

function namesOf(responseKey: string): string[] {
  try {
    return parsePath(responseKey).filter((step) => typeof step === 'string');
  } catch {
    // The check of the node reports it.
    return [];
  }
}

/** Returns the schema of data that has a value at a path. */
function below(path: readonly string[], schema: JsonObject): JsonObject {
  return path.reduceRight<JsonObject>((inner, name) => ({ properties: { [name]: inner } }), schema);
}

function readsOf({ conditions, inputBody, outputBody, payload, aiOptions }: WorkflowNode): ReadPath[] {
  const reads = [
    ...conditions.flatMap(({ expression }) => (expression === null ? [] : pathsInExpression(expression))),
    ...[inputBody, outputBody, aiOptions?.operationPrompt ?? null].flatMap((text) =>
      text === null ? [] : pathsInTemplate(text),
    ),
    ...pathsInJson(payload),
  ];
  // Deduplicate: a template may read one path many times.
  return [...new Map(reads.map((path) => [JSON.stringify(path), path])).values()];
}

function lengthOf({ conditions, inputBody, outputBody, payload, aiOptions }: WorkflowNode): number {
  return JSON.stringify([conditions, inputBody, outputBody, payload, aiOptions?.operationPrompt]).length;
}
