import { jsonDepth, jsonSize, type JsonObject } from '../../../common/json.js';
import { parsePath, setPath } from '../../../language/paths/data-paths.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';

/** Levels of data, as many as a request body may have. */
const MAX_DEPTH = 64;

/** The data of one run, held below their limits whatever is stored in them. */
export class RunData {
  private data: JsonObject = {};
  /** At least the size of the data; measured again only when it seems too much. */
  private bytes = 0;

  constructor(
    input: JsonObject,
    private readonly maxBytes: number,
  ) {
    this.replace(input);
  }

  get value(): JsonObject {
    return this.data;
  }

  /** @throws WorkflowFailedError when they are too large or too deep */
  replace(data: JsonObject): void {
    this.bytes = this.checked(data);
    this.data = data;
  }

  /**
   * Stores a value at a path.
   * @throws InvalidDataPathError, WorkflowFailedError
   */
  store(path: string, value: unknown): void {
    const steps = parsePath(path);
    const added = this.checked(value, steps.length);
    const data = setPath(this.data, steps, value);
    this.bytes += added + Buffer.byteLength(JSON.stringify(steps)) + skipped(steps);
    if (this.bytes > this.maxBytes) {
      this.bytes = this.checked(data);
    }
    this.data = data;
  }

  /** @throws WorkflowFailedError when a value is too large or too deep to be data, or the output, of a run */
  check(value: unknown): void {
    this.checked(value);
  }

  private checked(value: unknown, above = 0): number {
    const bytes = jsonSize(value);
    if (bytes > this.maxBytes) {
      throw new WorkflowFailedError(
        'WORKFLOW_DATA_LIMIT',
        `The data of a run have at most ${this.maxBytes} bytes as JSON.`,
      );
    }
    if (jsonDepth(value) + above > MAX_DEPTH) {
      throw new WorkflowFailedError(
        'WORKFLOW_DATA_LIMIT',
        `The data of a run have at most ${MAX_DEPTH} levels.`,
      );
    }
    return bytes;
  }
}

/** Bytes of the `null,` of array elements that come into being before one that is set, and of braces. */
function skipped(steps: readonly (string | number)[]): number {
  return steps.reduce<number>((bytes, step) => bytes + (typeof step === 'number' ? 5 * step + 2 : 4), 0);
}
