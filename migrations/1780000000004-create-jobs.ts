import {
  CreateTables,
  KEY,
  OPTIONAL,
  bigint,
  index,
  integer,
  json,
  time,
  unique,
  varchar,
} from './create-tables.js';

/** Background jobs. */
export class CreateJobs1780000000004 extends CreateTables {
  override readonly name = 'CreateJobs1780000000004';
  override readonly tables = [
    {
      name: 'runtime_jobs',
      columns: [
        bigint('id', KEY),
        integer('shard'),
        varchar('lane', 8),
        varchar('kind', 32),
        time('due_at'),
        time('available_at'),
        integer('attempts'),
        integer('failures'),
        integer('interruptions'),
        varchar('lease', 36, OPTIONAL),
        bigint('instance_id', OPTIONAL),
        bigint('token_id', OPTIONAL),
        bigint('family_id', OPTIONAL),
        varchar('dedupe_key', 128, OPTIONAL),
        json('payload'),
        time('created_at'),
      ],
      indices: [
        index('ix_runtime_jobs_claim', ['lane', 'available_at', 'id']),
        index('ix_runtime_jobs_lease', ['lease']),
        index('ix_runtime_jobs_token', ['instance_id', 'token_id']),
        unique('uq_runtime_jobs_dedupe', ['dedupe_key']),
        index('ix_runtime_jobs_due', ['lane', 'due_at']),
        index('ix_runtime_jobs_family', ['family_id']),
      ],
    },
  ];
}
