import { parseExactly, jsonDepth, type JsonValue, countValues } from '#engine/json';
import { dataLimits } from '../../../platform/validation/data.limits.js';
import { inTurn, inTurns } from '#engine/support';
import type { SecretRemoval } from '../../../platform/secrets/secret-removal.js';
import { WorkflowFailedError } from '../workflows/model/workflows.errors.js';

/** What a REST_ENDPOINT node stores under its `responseKey`. A type and no interface, so that it is a JsonValue. */
export type RestAnswer = {
  /** Body: JSON as it is, but integers beyond 2^53 - 1 as texts; a text as a string, null for none. */
  data: JsonValue;
  status: number;
  headers: Record<string, string>;
};

/** Headers that a workflow may need; all others stay out of its data. */
const KEPT_HEADERS = ['content-type', 'etag', 'last-modified', 'location', 'retry-after'];

/** Levels of the data of a run; what is much deeper can be parsed, and not be written again. */
const MAX_DEPTH = 64;

/**
 * Reads an answer to its end.
 * @param removal takes out what was sent: readers of the process may not have it
 * @throws WorkflowFailedError when the body is neither JSON nor text, or is not what it is said to be
 * @throws OutboundError as reading does
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
  const data = bytes.byteLength === 0 ? null : await inTurn(() => dataOf(bytes, type));
  if ((await inTurn(() => jsonDepth(data))) > MAX_DEPTH) {
    throw invalid(`The answer of the system has more than ${MAX_DEPTH} levels.`);
  }
  return { data: await inTurns(removal.jsonSteps(data)), status: response.status, headers };
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
    throw invalid('The answer of the system says that it is JSON, and is not.');
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
