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

/** Members and names of one workflow that are looked at, all together. */
const MAX_WORK = 500_000;
/** Characters of expressions of one workflow that are read once more for this check. */
const MAX_TEXT = 200_000;

/**
 * Holds the names that conditions and `${…}` of a workflow read against its input schema and the results of its nodes. Where more
 * data may come in, only a name that is nearly another one is worth a word.
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
  const speaksOfAlias = [input, ...written].some(({ names }) => names.has(DATA_ALIAS));
  let left = MAX_TEXT;
  for (const node of workflow.nodes) {
    left -= lengthOf(node);
    if (left < 0 || problems.isFull) {
      return;
    }
    for (const read of readsOf(node)) {
      const path = read[0] === DATA_ALIAS && !speaksOfAlias ? read.slice(1) : read;
      const unknown = known.check(path);
      if (unknown !== undefined) {
        const isOfAnswer = fixed.some(({ names }) => names.has(path[0] ?? ''));
        const hint = hintOf(unknown.nearest, isOfAnswer);
        const message = `"${writePath(path)}" is read here, and neither the input schema of the workflow nor the result of a node speaks of it.${hint}`;
        problems.warning('NAME_UNKNOWN', { file: workflow.file, element: node.id }, message);
      }
    }
  }
}

function hintOf(nearest: string | undefined, isOfAnswer: boolean): string {
  if (nearest !== undefined) {
    return ` Did you mean ${JSON.stringify(nearest)}?`;
  }
  return isOfAnswer ? ' The result of a REST_ENDPOINT node has data, status and headers.' : '';
}

/** What is known of the results that have no other members, or of those that may. */
function knownOf(results: readonly Result[], wanted: boolean, work: CheckWork): KnownMembers[] {
  return results.flatMap(({ schema, isFixed }) =>
    schema === null || isFixed !== wanted ? [] : [KnownMembers.ofSchema(schema, work)],
  );
}

/** What the result of a call of an endpoint is (docs/workflows.md). */
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
  /** Of the data with the result in it; null where nothing is known of the result. */
  schema: JsonObject | null;
  /** Where anything may stand afterwards. */
  taken: string[] | null;
  /** Whether it may be anywhere. */
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
  // A reference within the schema begins at its root, which is another one then.
  return schema === undefined || JSON.stringify(schema).includes('"$ref"')
    ? { ...NOTHING, taken: path }
    : { ...NOTHING, schema: below(path, schema) };
}

function namesOf(responseKey: string): string[] {
  try {
    return parsePath(responseKey).filter((step) => typeof step === 'string');
  } catch {
    // Told where the node is checked.
    return [];
  }
}

/** The schema of data in which something stands at a path. */
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
  // Each once: a template may read one path many times.
  return [...new Map(reads.map((path) => [JSON.stringify(path), path])).values()];
}

function lengthOf({ conditions, inputBody, outputBody, payload, aiOptions }: WorkflowNode): number {
  return JSON.stringify([conditions, inputBody, outputBody, payload, aiOptions?.operationPrompt]).length;
}
