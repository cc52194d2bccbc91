import { integer } from './setting-rules.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;

/** Settings of workflow runs. What a workflow may use up is bounded, whoever wrote it. */
export const workflowSettings = {
  WORKFLOW_MAX_NODES: integer(2, 100_000, 1_000).describe(
    'Nodes that one workflow run may go through, its subworkflows included.',
  ),
  WORKFLOW_MAX_DEPTH: integer(0, 50, 10).describe('Subworkflows inside of subworkflows at the most.'),
  WORKFLOW_MAX_DATA_BYTES: integer(1_024, 16_777_216, 1_048_576).describe(
    'Bytes of data that one workflow run may hold, as JSON.',
  ),
  WORKFLOW_DEADLINE_MS: integer(100, DAY_MS, 10 * MINUTE_MS).describe(
    'Milliseconds that a workflow run may take, its subworkflows included.',
  ),
  WORKFLOW_LEASE_MS: integer(1_000, DAY_MS, MINUTE_MS).describe(
    'Milliseconds after which a workflow run whose replica has died goes on in another one; a living one renews it. Never below JOBS_LEASE_MS.',
  ),
  WORKFLOW_CANCEL_CHECK_MS: integer(50, MINUTE_MS, 1_000).describe(
    'Milliseconds between two looks whether a run under way was cancelled.',
  ),
  WORKFLOW_RECORD_VALUE_BYTES: integer(256, 1_048_576, 65_536).describe(
    "Largest input or output of one node that is kept for readers of a run; a larger one is left out, the run's data stay as they are.",
  ),
  WORKFLOW_RECORD_BYTES: integer(1_024, 16_777_216, 1_048_576).describe(
    'Bytes of inputs and outputs that are kept of one run for its readers; the rest is left out.',
  ),
  WORKFLOW_USAGE_MAX_CALLS: integer(1, 1_000_000, 10_000).describe(
    'Newest calls of models that are looked at for one sum of what runs have used up.',
  ),
  WORKFLOW_PAGE_SIZE: integer(1, 100, 50).describe('Workflow runs in a page when the caller does not say.'),
};
