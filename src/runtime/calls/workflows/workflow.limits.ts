/** Limits of workflow runs. */
export const workflowLimits = {
  /** Nodes executed by one workflow run, including its subworkflows. */
  nodes: 1_000,
  /** Maximum depth of nested subworkflows. */
  depth: 10,
  /** Maximum size of the data of one workflow run, in bytes of JSON. */
  dataBytes: 1_048_576,
  /** Milliseconds that a workflow run may take, including its subworkflows. */
  deadlineMs: 600_000,
  /** Milliseconds after which another replica takes over a workflow run whose replica has died; live replicas renew the lease. Never below `leaseMs` of jobs. */
  leaseMs: 60_000,
  /** Milliseconds between checks whether a run was cancelled. */
  cancelCheckMs: 1_000,
  /** Maximum bytes of one node input or output stored for readers of a run; larger ones are omitted there, without affecting the run. */
  recordValueBytes: 65_536,
  /** Maximum bytes of all node inputs and outputs stored per run; the rest is omitted. */
  recordBytes: 1_048_576,
  /** Newest model calls included in one usage report. */
  usageCalls: 10_000,
};
