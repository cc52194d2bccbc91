import { parseExactly, jsonDepth, type JsonValue, countValues } from '#engine/json';
import { dataLimits } from '../../../platform/validation/data.limits.js';
import { runAfterYield, runYielding } from '#engine/support';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { WorkflowFailedError } from '../workflows/model/workflows.errors.js';

/** Result of a REST_ENDPOINT node. A type rather than an interface, so that it is assignable to JsonValue. */
export type RestAnswer = {
  /** Body: JSON, with integers beyond 2^53 - 1 as strings, or a text; null without a body. */
  data: JsonValue;
  status: number;
  headers: Record<string, string>;
};

/** Headers included in the data of the workflow. */
const KEPT_HEADERS = ['content-type', 'etag', 'last-modified', 'location', 'retry-after'];

/** Maximum depth of run data. Much deeper JSON can be parsed but not serialized. */
const MAX_DEPTH = 64;

/**
 * Reads the whole answer.
 * @param removal removes sent credentials, which readers of the process must not see
 * @throws WorkflowFailedError when the body is neither JSON nor text, or does not match its content type
 * @throws OutboundError when reading fails
 */
export async function readAnswer(response: Response, removal: SecretRemoval): Promise<RestAnswer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? '';
  const headers = Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, removal.text(value)]];
    }),
  );
  const data = bytes.byteLength === 0 ? null : await runAfterYield(() => dataOf(bytes, type));
  if ((await runAfterYield(() => jsonDepth(data))) > MAX_DEPTH) {
    throw invalid(`The answer of the system has more than ${MAX_DEPTH} levels.`);
  }
  return { data: await runYielding(removal.jsonSteps(data)), status: response.status, headers };
}

function dataOf(bytes: Uint8Array, type: string): JsonValue {
  const maxValues = dataLimits.values;
  if (/[/+]json\b/i.test(type)) {
    if (countValues(bytes, maxValues) > maxValues) {
      throw invalid(`The answer of the system has more than ${maxValues} values.`);
    }
    return parsed(textOf(bytes));
  }
  if (type !== '' && !/^text\/|[/+]xml\b/i.test(type)) {
    throw invalid('The answer of the system is neither JSON nor text.');
  }
  return textOf(bytes);
}

function parsed(text: string): JsonValue {
  try {
    return parseExactly(text, JSON.stringify) as JsonValue;
  } catch {
    throw invalid('The answer of the system is declared as JSON but is not valid JSON.');
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The answer of the system is not UTF-8.');
  }
}

function invalid(message: string): WorkflowFailedError {
  return new WorkflowFailedError('REST_RESPONSE_INVALID', message);
}
