import { jsonSize, type JsonValue } from '../../../common/json.js';
import { WorkflowNodeState, type RunnableNode, type WorkflowNodeRecord } from '../model/workflow.types.js';
import type { WorkflowFailedError } from '../model/workflows.errors.js';

const MISSING_MAX = 20;
const REFERENCE_MAX_LENGTH = 200;

/** What is kept of a run for its readers. */
export interface JournalLimits {
  /** Bytes of one input or output. */
  readonly valueBytes: number;
  /** Bytes of all of them together. */
  readonly totalBytes: number;
}

/** What happened at one visit of a node. */
export interface Visit {
  readonly node: RunnableNode;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly missing: readonly string[];
  readonly error: WorkflowFailedError | null;
}

/** Collects the work of the nodes of one run, up to a size. A part that is too large is left out, and marked. */
export class RunJournal {
  private readonly visits: WorkflowNodeRecord[] = [];
  private bytesLeft: number;

  constructor(private readonly limits: JournalLimits) {
    this.bytesLeft = limits.totalBytes;
  }

  add({ node, startedAt, finishedAt, input, output, missing, error }: Visit): void {
    const fitsInput = this.take(input);
    const fitsOutput = this.take(output);
    this.visits.push({
      nodeId: node.id,
      name: node.name,
      type: node.type,
      state: error === null ? WorkflowNodeState.Finished : WorkflowNodeState.Failed,
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      input: fitsInput ? input : null,
      output: fitsOutput ? output : null,
      omitted: [...(fitsInput ? [] : (['input'] as const)), ...(fitsOutput ? [] : (['output'] as const))],
      missing: missing.slice(0, MISSING_MAX).map((reference) => reference.slice(0, REFERENCE_MAX_LENGTH)),
      error: error?.toRecord() ?? null,
    });
  }

  /** One entry for each visit, in their order. */
  list(): readonly WorkflowNodeRecord[] {
    return this.visits;
  }

  private take(value: JsonValue): boolean {
    const bytes = jsonSize(value);
    if (bytes > this.limits.valueBytes || bytes > this.bytesLeft) {
      return false;
    }
    this.bytesLeft -= bytes;
    return true;
  }
}
