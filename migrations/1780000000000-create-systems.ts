import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
  type TableForeignKeyOptions,
} from 'typeorm';

type Column = TableColumnOptions;

/** Application versions, systems with their tools, the audit log and the keys that seal secrets. */
export class CreateSystems1780000000000 implements MigrationInterface {
  readonly name = 'CreateSystems1780000000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(columnsFor(runner))) {
      // MySQL commits each DDL statement by itself: a start that was cut off must be able to go on.
      await runner.createTable(new Table(table), true);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of tables(columnsFor(runner)).toReversed()) {
      await runner.dropTable(name, true);
    }
  }
}

interface Columns {
  varchar: (name: string, length: number, extra?: Partial<Column>) => Column;
  text: (name: string, extra?: Partial<Column>) => Column;
  time: (name: string, extra?: Partial<Column>) => Column;
  other: (name: string, type: 'integer' | 'boolean' | 'json', extra?: Partial<Column>) => Column;
}

function columnsFor(runner: QueryRunner): Columns {
  // Identifiers and tool names differ by case; SQLite compares so by itself.
  const isServer = runner.connection.options.type !== 'better-sqlite3';
  const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  return {
    varchar: (name, length, extra) => ({ name, type: 'varchar', length: String(length), ...exact, ...extra }),
    text: (name, extra) => ({ name, type: 'text', ...exact, ...extra }),
    time: (name, extra) => ({ name, type: 'datetime', precision: 3, ...extra }),
    other: (name, type, extra) => ({ name, type, ...extra }),
  };
}

const KEY = { isPrimary: true };
const OPTIONAL = { isNullable: true };

interface TableShape {
  name: string;
  columns: Column[];
  indices: TableIndex[];
  foreignKeys?: TableForeignKeyOptions[];
}

const unique = (name: string, columnNames: string[]): TableIndex =>
  new TableIndex({ name, columnNames, isUnique: true });
const index = (name: string, columnNames: string[]): TableIndex => new TableIndex({ name, columnNames });

function tables(columns: Columns): TableShape[] {
  return [
    appVersions(columns),
    versionDependencies(columns),
    resourceDefinitions(columns),
    systems(columns),
    tools(columns),
    auditEvents(columns),
    secretKeys(columns),
  ];
}

const appVersions = ({ varchar, time }: Columns): TableShape => ({
  name: 'app_versions',
  columns: [
    varchar('app_id', 64, KEY),
    varchar('app_version_id', 64, KEY),
    varchar('state', 16),
    time('created_at'),
    time('committed_at', OPTIONAL),
  ],
  indices: [],
});

const versionDependencies = ({ varchar }: Columns): TableShape => ({
  name: 'version_dependencies',
  columns: [
    varchar('app_id', 64, KEY),
    varchar('app_version_id', 64, KEY),
    varchar('dependency_type', 16, KEY),
    varchar('dependency_app_id', 64, KEY),
    varchar('dependency_app_version_id', 64, KEY),
  ],
  indices: [],
});

const resourceDefinitions = ({ varchar, time }: Columns): TableShape => ({
  name: 'resource_definitions',
  columns: [varchar('id', 36, KEY), varchar('app_id', 64), varchar('name_key', 255), time('created_at')],
  indices: [unique('uq_resource_definitions_app_name', ['app_id', 'name_key'])],
});

const systems = ({ varchar, text, time }: Columns): TableShape => ({
  name: 'systems',
  columns: [
    varchar('id', 36, KEY),
    varchar('resource_id', 36),
    varchar('resource_definition_id', 36),
    varchar('app_id', 64),
    varchar('app_version_id', 64),
    varchar('type', 16),
    varchar('resource_name', 255),
    varchar('name_key', 255),
    varchar('name', 255),
    varchar('description', 2000),
    varchar('base_url', 2048, OPTIONAL),
    varchar('authorization_type', 16, OPTIONAL),
    varchar('client_id', 255, OPTIONAL),
    varchar('client_secret', 4096, OPTIONAL),
    varchar('identity_provider_url', 2048, OPTIONAL),
    varchar('connection_key', 64, OPTIONAL),
    time('tools_synchronised_at', OPTIONAL),
    text('created_by'),
    text('modified_by'),
    time('created_at'),
    time('modified_at'),
  ],
  indices: [
    unique('uq_systems_version_name', ['app_id', 'app_version_id', 'name_key']),
    unique('uq_systems_resource_id', ['resource_id']),
    index('ix_systems_connection', ['app_id', 'app_version_id', 'connection_key']),
  ],
});

const tools = ({ varchar, text, time, other }: Columns): TableShape => ({
  name: 'tools',
  columns: [
    varchar('id', 36, KEY),
    varchar('system_id', 36),
    varchar('name', 128),
    varchar('title', 255, OPTIONAL),
    text('description'),
    text('input_schema'),
    text('output_schema', OPTIONAL),
    text('annotations', OPTIONAL),
    varchar('definition_hash', 64),
    other('enabled', 'boolean'),
    other('present', 'boolean'),
    other('position', 'integer'),
    time('created_at'),
    time('modified_at'),
  ],
  indices: [unique('uq_tools_system_name', ['system_id', 'name'])],
  foreignKeys: [
    {
      name: 'fk_tools_system',
      columnNames: ['system_id'],
      referencedTableName: 'systems',
      referencedColumnNames: ['id'],
      onDelete: 'CASCADE',
      onUpdate: 'NO ACTION',
    },
  ],
});

const auditEvents = ({ varchar, text, time, other }: Columns): TableShape => ({
  name: 'audit_events',
  columns: [
    varchar('id', 36, KEY),
    time('occurred_at'),
    varchar('action', 32),
    varchar('outcome', 16),
    varchar('app_id', 64),
    varchar('app_version_id', 64),
    varchar('system_resource_id', 64, OPTIONAL),
    varchar('tool_id', 64, OPTIONAL),
    varchar('actor_issuer', 255),
    varchar('actor_subject', 255),
    text('actor'),
    varchar('request_id', 64),
    other('details', 'json', OPTIONAL),
  ],
  indices: [
    index('ix_audit_events_version', ['app_id', 'app_version_id', 'id']),
    index('ix_audit_events_system', ['app_id', 'app_version_id', 'system_resource_id', 'id']),
  ],
});

const secretKeys = ({ varchar, time }: Columns): TableShape => ({
  name: 'secret_keys',
  columns: [varchar('id', 32, KEY), varchar('canary', 512), time('created_at')],
  indices: [],
});
