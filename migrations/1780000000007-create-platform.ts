import { CreateTables, KEY, OPTIONAL, bigint, index, integer, json, time, varchar } from './create-tables.js';

/** Tables of the platform: secret keys, ids, quotas, replicas, incident counts and timers in transit to a shard. */
export class CreatePlatform1780000000007 extends CreateTables {
  override readonly name = 'CreatePlatform1780000000007';
  override readonly tables = [
    {
      name: 'secret_keys',
      columns: [varchar('id', 32, KEY), varchar('canary', 512), time('created_at')],
    },
    {
      name: 'id_blocks',
      columns: [varchar('name', 32, KEY), bigint('next')],
    },
    {
      name: 'quota_uses',
      columns: [varchar('id', 128, KEY), bigint('used'), time('ends_at')],
      indices: [index('ix_quota_uses_end', ['ends_at'])],
    },
    {
      name: 'write_proofs',
      columns: [
        integer('slot', KEY),
        time('written_at'),
        varchar('service_release', 32, OPTIONAL),
        varchar('settings_hash', 22, OPTIONAL),
      ],
    },
    {
      name: 'incident_counts',
      columns: [integer('id', KEY), json('counts'), time('due_at')],
    },
    {
      name: 'timer_outbox',
      columns: [bigint('id', KEY), json('work')],
    },
  ];
}
