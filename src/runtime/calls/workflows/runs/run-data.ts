import { jsonDepth, jsonSize, type JsonObject, hasMoreValues } from '#engine/json';
import { runWithoutYielding, runYielding, type YieldingWork } from '#engine/support';
import { parsePath, setPath } from '#engine/paths';
import { dataLimits } from '../../../../platform/validation/data.limits.js';
import { workflowLimits } from '../workflow.limits.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Maximum depth of data, the same as for request bodies. */
const MAX_DEPTH = 64;

/** Data of one run, with enforced limits. */
export class RunData {
  private data: JsonObject;
  /** Upper bound of the size; measured again only when it exceeds the limit. */
  private bytes: number;

  /** @throws WorkflowFailedError when the input is too large or too deep */
  constructor(input: JsonObject) {
    this.bytes = runWithoutYielding(this.checked(input));
    this.data = input;
  }

  get value(): JsonObject {
    return this.data;
  }

  /** Replaces the data. @throws WorkflowFailedError when it is too large or too deep */
  async replace(data: JsonObject): Promise<void> {
    this.bytes = await runYielding(this.checked(data));
    this.data = data;
  }

  /** Stores a value at a path. @throws InvalidDataPathError, WorkflowFailedError */
  async store(path: string, value: unknown): Promise<void> {
    const steps = parsePath(path);
    const added = await runYielding(this.checked(value, steps.length));
    const data = setPath(this.data, steps, value);
    this.bytes += added + Buffer.byteLength(JSON.stringify(steps)) + skipped(steps);
    if (this.bytes > workflowLimits.dataBytes) {
      this.bytes = await runYielding(this.checked(data));
    }
    this.data = data;
  }

  /** Checks a value. @throws WorkflowFailedError when it is too large or too deep for the data or output of a run */
  async check(value: unknown): Promise<void> {
    await runYielding(this.checked(value));
  }

  /** Checks a value in three passes, each of which can take milliseconds. */
  private *checked(value: unknown, above = 0): YieldingWork<number> {
    const { values } = dataLimits;
    const maxBytes = workflowLimits.dataBytes;
    const bytes = jsonSize(value);
    if (bytes > maxBytes) {
      throw limitExceeded(`${maxBytes} bytes as JSON`);
    }
    yield;
    if (hasMoreValues(value, values)) {
      throw limitExceeded(`${values} values`);
    }
    yield;
    if (jsonDepth(value) + above > MAX_DEPTH) {
      throw limitExceeded(`${MAX_DEPTH} levels`);
    }
    return bytes;
  }
}

function limitExceeded(limit: string): WorkflowFailedError {
  return new WorkflowFailedError('WORKFLOW_DATA_LIMIT', `The data of a run must have at most ${limit}.`);
}

/** Bytes of the braces and of the `null,` elements added in front of an array element. */
function skipped(steps: readonly (string | number)[]): number {
  return steps.reduce<number>((bytes, step) => bytes + (typeof step === 'number' ? 5 * step + 2 : 4), 0);
}
