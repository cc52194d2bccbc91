import { type JsonValue, hasMoreValues, membersText, objectText } from '#engine/json';
import { runAfterYield } from '#engine/support';
import { WorkflowNodeState, type RunnableNode } from '../model/workflow.types.js';
import { workflowLimits } from '../workflow.limits.js';
import type { WorkflowFailedError } from '../model/workflows.errors.js';

const MISSING_MAX = 20;
const REFERENCE_MAX_LENGTH = 200;
const BYTES_PER_VALUE = 2;

/** One visit of a node. */
export interface Visit {
  readonly node: RunnableNode;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly missing: readonly string[];
  readonly error: WorkflowFailedError | null;
}

/** Collects the node visits of a run up to a size limit. Values that are too large are omitted and listed in `omitted`. */
export class RunJournal {
  private readonly visits: string[] = [];
  private bytesLeft = workflowLimits.recordBytes;

  async add({ node, startedAt, finishedAt, input, output, missing, error }: Visit): Promise<void> {
    const inputText = await runAfterYield(() => this.take(input));
    const outputText = await runAfterYield(() => this.take(output));
    const record = {
      nodeId: node.id,
      name: node.name,
      type: node.type,
      state: error === null ? WorkflowNodeState.Finished : WorkflowNodeState.Failed,
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      omitted: [
        ...(inputText === undefined ? ['input'] : []),
        ...(outputText === undefined ? ['output'] : []),
      ],
      missing: missing.slice(0, MISSING_MAX).map((reference) => reference.slice(0, REFERENCE_MAX_LENGTH)),
      error: error?.toRecord() ?? null,
    };
    const parts = { input: inputText ?? 'null', output: outputText ?? 'null' };
    this.visits.push(objectText({ ...membersText(record), ...parts }));
  }

  /** Returns the visits in order, as JSON of WorkflowNodeRunDto[]. */
  text(): string {
    return `[${this.visits.join(',')}]`;
  }

  /** @returns JSON of a value; undefined if it exceeds the limits */
  private take(value: JsonValue): string | undefined {
    const most = Math.min(workflowLimits.recordValueBytes, this.bytesLeft);
    // Each value takes at least two bytes with its comma or brackets, so most large values are detected without serialization.
    const text = hasMoreValues(value, most / BYTES_PER_VALUE + 1) ? undefined : JSON.stringify(value);
    const bytes = text === undefined ? Infinity : Buffer.byteLength(text);
    if (bytes > most) {
      return undefined;
    }
    this.bytesLeft -= bytes;
    return text;
  }
}
