import { CreateTables, KEY, OPTIONAL, bigint, index, integer, json, time, varchar } from './create-tables.js';

/** Scans of the platform, the changes they found, and the lock of the scanning replica. */
export class CreateDiscovery1780000000006 extends CreateTables {
  override readonly name = 'CreateDiscovery1780000000006';
  override readonly tables = [
    {
      name: 'discovery_state',
      columns: [
        varchar('name', 16, KEY),
        bigint('begun'),
        varchar('holder', 36, OPTIONAL),
        time('held_until'),
        json('snapshot', OPTIONAL),
      ],
    },
    {
      name: 'discovery_scans',
      columns: [
        bigint('id', KEY),
        time('started_at'),
        time('finished_at'),
        varchar('requested_by', 255),
        integer('duration_ms'),
        integer('total_services'),
        integer('healthy_services'),
        integer('new_services'),
        integer('configuration_changes'),
        integer('issues'),
        json('result'),
      ],
    },
    {
      name: 'discovery_changes',
      columns: [
        bigint('id', KEY),
        bigint('scan_id'),
        time('noticed_at'),
        varchar('component_map', 24),
        varchar('component_key', 64),
        varchar('event', 16),
        varchar('status', 16, OPTIONAL),
        varchar('failure', 24, OPTIONAL),
      ],
      indices: [index('ix_discovery_changes_key', ['component_key', 'id'])],
    },
  ];
}
