import { z } from 'zod';
import { flag, integer, permission } from './setting-rules.js';

const MEGABYTE = 1_048_576;
const DAY_SECONDS = 86_400;

/** Settings of running processes. */
export const processSettings = {
  PROCESS_START_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that starting a process asks for where the model has no svc:start; any valid token without it.',
  ),
  PROCESS_UI_ACTION_PERMISSION: permission.describe(
    'Permission of PERMISSION_RULES that executing a UI action asks for; any valid token without it.',
  ),
  PROCESS_UI_ACTION_ACCESS: z
    .enum(['starter', 'any-token'], 'must be starter or any-token')
    .default('starter')
    .describe(
      'Who may execute UI actions where no lane asks for a permission: who started the instance (starter), or any valid token (any-token). With any-token the list of tasks tells everybody with a valid token uuids of instances and tokens, application, process and node of what they may execute.',
    ),
  PROCESS_REPEAT_WINDOW_MS: integer(0, 60_000, 1_000).describe(
    'Milliseconds after the execution of a UI action for which the same call again gets the first answer where it would lead back, unless it has an Idempotency-Key, an If-Match or svc-back; 0 for none.',
  ),
  PROCESS_DATA_MAX_BYTES: integer(1_024, 16_777_216, MEGABYTE).describe(
    'Bytes of the data of one process instance, as JSON.',
  ),
  PROCESS_DATA_MAX_VALUES: integer(1_000, 10_000_000, 50_000).describe(
    'Most values of the data of one process instance or workflow run and of one JSON answer of a REST system, those inside of others included; as many commas and opening brackets has one answer of a tool or a model.',
  ),
  PROCESS_MAX_NODES_PER_STEP: integer(1, 10_000, 200).describe(
    'Automatic nodes that one transaction goes through; a background job continues after that.',
  ),
  PROCESS_MAX_EXPRESSION_STEPS: integer(1_000, 100_000_000, 50_000).describe(
    'Work of all expressions and templates of one transaction, or of one visit of a workflow node, in steps of about half a microsecond; beyond it there is an incident.',
  ),
  PROCESS_MAX_CONTINUES: integer(1, 100_000, 100).describe(
    'Such transactions in succession without a token coming to rest; then there is an incident.',
  ),
  PROCESS_MAX_TOKENS: integer(1, 10_000, 500).describe('Live tokens of one process instance.'),
  PROCESS_MAX_CALL_DEPTH: integer(1, 100, 16).describe(
    'Processes that call each other, one inside the other.',
  ),
  PROCESS_FAMILY_MAX_INSTANCES: integer(1, 10_000_000, 2_000).describe(
    'Live instances that one started instance has called, directly and through others; a call beyond them is an incident.',
  ),
  PROCESS_FAMILY_MAX_JOBS: integer(1, 10_000_000, 5_000).describe(
    'Open background jobs of an instance and of all that it has called; a step that calls or publishes beyond them is an incident.',
  ),
  PROCESS_MAX_ITEMS: integer(1, 100_000, 1_000).describe(
    'Elements of the collection that a call activity runs for.',
  ),
  PROCESS_MAX_INCIDENTS: integer(1, 10_000, 500).describe(
    'Open incidents of one process instance; background work that fails beyond them is tried again until some are closed.',
  ),
  PROCESS_STATISTICS_MAX_INSTANCES: integer(1, 1_000_000, 10_000).describe(
    'Newest instances of a process that its statistics count; so many incidents too.',
  ),
  PROCESS_STATISTICS_MAX_EVENTS: integer(1, 10_000_000, 100_000).describe(
    'Events of these instances that are counted, together.',
  ),
  PROCESS_MAX_RETURN_POINTS: integer(1, 10_000, 200).describe(
    'Executed actions of one process instance that can be gone back to; the oldest are forgotten.',
  ),
  PROCESS_MESSAGE_TTL_SECONDS: integer(1, 365 * DAY_SECONDS, 7 * DAY_SECONDS).describe(
    'Seconds that a published message waits for somebody to receive it.',
  ),
  PROCESS_MESSAGE_ONE_RECEIVER: flag(false).describe(
    'Whether only one token may wait for a message with a correlation: a step that would make a second one wait is an incident. Needs DATABASE_SHARDS=1.',
  ),
  PROCESS_IDEMPOTENCY_DAYS: integer(1, 365, 7).describe(
    'Days for which a repeated Idempotency-Key gets the stored answer.',
  ),
  PROCESS_CLEANUP_SECONDS: integer(1, DAY_SECONDS, 3_600).describe(
    'Seconds between two removals of stored answers and messages that have expired, and of counts that count nothing.',
  ),
  PROCESS_CLEANUP_ROWS: integer(1, 100_000, 1_000).describe(
    'Rows that one statement of such a removal deletes at the most.',
  ),
  PROCESS_INCIDENT_COUNT_SECONDS: integer(1, DAY_SECONDS, 30).describe(
    'Seconds for which a count of open incidents holds in the metrics of all replicas; at least twenty times as long as it took.',
  ),
  PROCESS_DEFINITION_CACHE_BYTES: integer(1_024, 17_179_869_184, 134_217_728).describe(
    'Memory for process definitions that are kept ready to run, estimated; those not used for longest make room.',
  ),
  PROCESS_PAGE_SIZE: integer(1, 200, 50).describe(
    'Process instances or events in a page when the caller does not say.',
  ),
  PROCESS_PROGRESS_CONNECTIONS: integer(1, 100_000, 500).describe(
    'Open connections that follow the progress of instances, in this replica.',
  ),
  PROCESS_PROGRESS_CONNECTIONS_PER_CALLER: integer(1, 10_000, 20).describe(
    'Open connections of one caller that follow the progress of instances, in this replica, or with REDIS_URL in all of them.',
  ),
  PROCESS_PROGRESS_POLL_MS: integer(50, 60_000, 1_000).describe(
    'Milliseconds between two looks for what other replicas did to instances that are followed; with REDIS_URL they tell it at once.',
  ),
  PROCESS_PROGRESS_HEARTBEAT_SECONDS: integer(1, 3_600, 15).describe(
    'Seconds between two signs of life of such a connection; token and permission are checked again with each.',
  ),
  PROCESS_PROGRESS_STALL_SECONDS: integer(1, 3_600, 30).describe(
    'Seconds for which such a connection may take nothing of what was sent to it; then it is cut off.',
  ),
  PROCESS_PROGRESS_MAX_SECONDS: integer(1, DAY_SECONDS, 1_800).describe(
    'Seconds after which such a connection ends; clients connect again and go on where they were.',
  ),
};
