/** Bounds of workflow runs: what one may use up is bounded, whoever wrote it. */
export const workflowLimits = {
  /** Nodes that one workflow run may go through, its subworkflows included. */
  nodes: 1_000,
  /** Subworkflows inside of subworkflows at the most. */
  depth: 10,
  /** Bytes of data that one workflow run may hold, as JSON. */
  dataBytes: 1_048_576,
  /** Milliseconds that a workflow run may take, its subworkflows included. */
  deadlineMs: 600_000,
  /** Milliseconds after which a workflow run whose replica has died goes on in another one; a living one renews it. Never below `leaseMs`. */
  leaseMs: 60_000,
  /** Milliseconds between two looks whether a run under way was cancelled. */
  cancelCheckMs: 1_000,
  /** Largest input or output of one node that is kept for readers of a run; a larger one is left out, the run's data stay as they are. */
  recordValueBytes: 65_536,
  /** Bytes of inputs and outputs that are kept of one run for its readers; the rest is left out. */
  recordBytes: 1_048_576,
  /** Newest calls of models that are looked at for one sum of what runs have used up. */
  usageCalls: 10_000,
};
