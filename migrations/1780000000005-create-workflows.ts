import {
  CreateTables,
  KEY,
  OPTIONAL,
  bigint,
  index,
  integer,
  json,
  text,
  time,
  unique,
  varchar,
} from './create-tables.js';

/** Workflow runs and their calls to outside parties. */
export class CreateWorkflows1780000000005 extends CreateTables {
  override readonly name = 'CreateWorkflows1780000000005';
  override readonly tables = [
    {
      name: 'workflow_runs',
      columns: [
        varchar('id', 36, KEY),
        integer('shard'),
        varchar('run_key', 128),
        integer('attempt'),
        varchar('build_id', 64),
        varchar('app_id', 64, OPTIONAL),
        varchar('workflow', 255),
        varchar('state', 16),
        varchar('origin', 16),
        varchar('process_instance_uuid', 36),
        bigint('process_token_id', OPTIONAL),
        varchar('parent_run_id', 36, OPTIONAL),
        time('started_at'),
        time('finished_at', OPTIONAL),
        text('error', OPTIONAL),
        varchar('error_code', 255, OPTIONAL),
        json('nodes', OPTIONAL),
        json('output', OPTIONAL),
      ],
      indices: [
        unique('uq_workflow_runs_key', ['run_key']),
        index('ix_workflow_runs_state', ['state', 'id']),
        index('ix_workflow_runs_process', ['process_instance_uuid', 'id']),
        index('ix_workflow_runs_parent', ['parent_run_id', 'id']),
      ],
    },
    {
      name: 'workflow_calls',
      columns: [
        varchar('run_id', 36, KEY),
        varchar('call_key', 191, KEY),
        integer('shard'),
        varchar('kind', 8),
        varchar('state', 16),
        integer('attempt'),
        integer('tries'),
        integer('repeatable'),
        time('started_at'),
        time('finished_at', OPTIONAL),
        varchar('outcome', 64, OPTIONAL),
        text('usage', OPTIONAL),
        json('request'),
        integer('request_bytes'),
        json('response', OPTIONAL),
      ],
      indices: [
        index('ix_workflow_calls_order', ['run_id', 'started_at', 'call_key']),
        index('ix_workflow_calls_started', ['kind', 'started_at']),
      ],
    },
  ];
}
