import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

type Column = (name: string, extra?: Partial<TableColumnOptions>) => TableColumnOptions;

/** Scans of the platform, what changed in them, and whose turn it is to scan. */
export class CreateDiscovery1795000000000 implements MigrationInterface {
  readonly name = 'CreateDiscovery1795000000000';

  async up(runner: QueryRunner): Promise<void> {
    const isServer = runner.connection.options.type !== 'better-sqlite3';
    const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
    const varchar: (length: number) => Column = (length) => (name, extra) => ({
      name,
      type: 'varchar',
      length: String(length),
      ...exact,
      ...extra,
    });
    await runner.createTable(stateTable(varchar), true);
    await runner.createTable(scansTable(varchar), true);
    await runner.createTable(changesTable(varchar), true);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('discovery_changes', true);
    await runner.dropTable('discovery_scans', true);
    await runner.dropTable('discovery_state', true);
  }
}

const time: Column = (name, extra) => ({ name, type: 'datetime', precision: 3, ...extra });
const integer: Column = (name, extra) => ({ name, type: 'integer', ...extra });
const bigint: Column = (name, extra) => ({ name, type: 'bigint', ...extra });
const json: Column = (name, extra) => ({ name, type: 'json', ...extra });

function stateTable(varchar: (length: number) => Column): Table {
  return new Table({
    name: 'discovery_state',
    columns: [
      varchar(16)('name', { isPrimary: true }),
      bigint('begun'),
      varchar(36)('holder', { isNullable: true }),
      time('held_until'),
      json('snapshot', { isNullable: true }),
    ],
  });
}

function scansTable(varchar: (length: number) => Column): Table {
  return new Table({
    name: 'discovery_scans',
    columns: [
      bigint('id', { isPrimary: true }),
      time('started_at'),
      time('finished_at'),
      varchar(255)('requested_by'),
      integer('duration_ms'),
      integer('total_services'),
      integer('healthy_services'),
      integer('new_services'),
      integer('configuration_changes'),
      integer('issues'),
      json('result'),
    ],
  });
}

function changesTable(varchar: (length: number) => Column): Table {
  return new Table({
    name: 'discovery_changes',
    columns: [
      bigint('id', { isPrimary: true }),
      bigint('scan_id'),
      time('noticed_at'),
      varchar(24)('component_map'),
      varchar(64)('component_key'),
      varchar(16)('event'),
      varchar(16)('status', { isNullable: true }),
      varchar(24)('failure', { isNullable: true }),
    ],
    indices: [{ name: 'ix_discovery_changes_key', columnNames: ['component_key', 'id'] }],
  });
}
