import { jsonDepth, jsonSize, type JsonObject, hasMoreValues } from '#engine/json';
import { inOnePiece, inTurns, type Steps } from '#engine/support';
import { parsePath, setPath } from '#engine/paths';
import { dataLimits } from '../../../../platform/validation/data.limits.js';
import { workflowLimits } from '../workflow.limits.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Levels of data, as many as a request body may have. */
const MAX_DEPTH = 64;

/** The data of one run, held below their limits whatever is stored in them. */
export class RunData {
  private data: JsonObject;
  /** At least the size of the data; measured again only when it seems too much. */
  private bytes: number;

  /** @throws WorkflowFailedError when the input is too large or too deep */
  constructor(input: JsonObject) {
    this.bytes = inOnePiece(this.checked(input));
    this.data = input;
  }

  get value(): JsonObject {
    return this.data;
  }

  /** @throws WorkflowFailedError when they are too large or too deep */
  async replace(data: JsonObject): Promise<void> {
    this.bytes = await inTurns(this.checked(data));
    this.data = data;
  }

  /** Stores a value at a path. @throws InvalidDataPathError, WorkflowFailedError */
  async store(path: string, value: unknown): Promise<void> {
    const steps = parsePath(path);
    const added = await inTurns(this.checked(value, steps.length));
    const data = setPath(this.data, steps, value);
    this.bytes += added + Buffer.byteLength(JSON.stringify(steps)) + skipped(steps);
    if (this.bytes > workflowLimits.dataBytes) {
      this.bytes = await inTurns(this.checked(data));
    }
    this.data = data;
  }

  /** @throws WorkflowFailedError when a value is too large or too deep to be data, or the output, of a run */
  async check(value: unknown): Promise<void> {
    await inTurns(this.checked(value));
  }

  /** Goes through the value three times, each of which can take milliseconds. */
  private *checked(value: unknown, above = 0): Steps<number> {
    const { values } = dataLimits;
    const maxBytes = workflowLimits.dataBytes;
    const bytes = jsonSize(value);
    if (bytes > maxBytes) {
      throw tooMuch(`${maxBytes} bytes as JSON`);
    }
    yield;
    if (hasMoreValues(value, values)) {
      throw tooMuch(`${values} values`);
    }
    yield;
    if (jsonDepth(value) + above > MAX_DEPTH) {
      throw tooMuch(`${MAX_DEPTH} levels`);
    }
    return bytes;
  }
}

function tooMuch(limit: string): WorkflowFailedError {
  return new WorkflowFailedError('WORKFLOW_DATA_LIMIT', `The data of a run have at most ${limit}.`);
}

/** Bytes of the `null,` of array elements that come into being before one that is set, and of braces. */
function skipped(steps: readonly (string | number)[]): number {
  return steps.reduce<number>((bytes, step) => bytes + (typeof step === 'number' ? 5 * step + 2 : 4), 0);
}
