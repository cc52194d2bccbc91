import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

type Column = TableColumnOptions;

/** Application packages, builds with all that they hold, and which build of an application is active. */
export class CreateBuilds1790000000000 implements MigrationInterface {
  readonly name = 'CreateBuilds1790000000000';

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
  other: (name: string, type: 'bigint' | 'integer' | 'boolean' | 'json', extra?: Partial<Column>) => Column;
  time: (name: string, extra?: Partial<Column>) => Column;
}

function columnsFor(runner: QueryRunner): Columns {
  const isServer = runner.connection.options.type !== 'better-sqlite3';
  const exact = isServer ? { charset: 'utf8mb4', collation: 'utf8mb4_bin' } : {};
  return {
    varchar: (name, length, extra) => ({ name, type: 'varchar', length: String(length), ...exact, ...extra }),
    text: (name, extra) => ({ name, type: 'text', ...exact, ...extra }),
    other: (name, type, extra) => ({ name, type, ...extra }),
    time: (name, extra) => ({ name, type: 'datetime', precision: 3, ...extra }),
  };
}

const KEY = { isPrimary: true };
const OPTIONAL = { isNullable: true };

interface TableShape {
  name: string;
  columns: Column[];
  indices: TableIndex[];
}

const unique = (name: string, columnNames: string[]): TableIndex =>
  new TableIndex({ name, columnNames, isUnique: true });

function tables(columns: Columns): TableShape[] {
  return [
    appPackages(columns),
    builds(columns),
    buildLibraries(columns),
    buildDefinitions(columns),
    buildWorkflows(columns),
    buildSystems(columns),
    buildTools(columns),
    processNodes(columns),
    activeBuilds(columns),
  ];
}

const appPackages = ({ varchar, text, other, time }: Columns): TableShape => ({
  name: 'app_packages',
  columns: [
    varchar('app_id', 64, KEY),
    varchar('app_version_id', 64, KEY),
    varchar('checksum', 64),
    other('document', 'json'),
    time('stored_at'),
    text('stored_by'),
  ],
  indices: [],
});

const builds = ({ varchar, text, other, time }: Columns): TableShape => ({
  name: 'builds',
  columns: [
    varchar('build_id', 36, KEY),
    varchar('app_id', 64),
    varchar('app_version_id', 64),
    varchar('status', 16),
    varchar('checksum', 64),
    other('settings', 'json'),
    time('created_at'),
    text('created_by'),
  ],
  indices: [new TableIndex({ name: 'ix_builds_app', columnNames: ['app_id', 'build_id'] })],
});

const buildLibraries = ({ varchar, other }: Columns): TableShape => ({
  name: 'build_libraries',
  columns: [
    varchar('build_id', 36, KEY),
    varchar('library_app_id', 64, KEY),
    varchar('library_build_id', 36),
    other('level', 'integer'),
  ],
  indices: [],
});

const buildDefinitions = ({ varchar, other }: Columns): TableShape => ({
  name: 'build_definitions',
  columns: [
    other('id', 'bigint', KEY),
    varchar('build_id', 36),
    varchar('name', 255),
    varchar('svc_uuid', 64),
    varchar('resource_id', 36),
    varchar('file', 255),
    other('graph', 'json'),
    other('bpmn', 'json'),
  ],
  indices: [unique('uq_build_definitions_name', ['build_id', 'name'])],
});

const buildWorkflows = ({ varchar, other }: Columns): TableShape => ({
  name: 'build_workflows',
  columns: [
    varchar('build_id', 36, KEY),
    varchar('name', 255, KEY),
    varchar('resource_id', 36),
    varchar('resource_definition_id', 36),
    other('definition', 'json'),
  ],
  indices: [],
});

const buildSystems = ({ varchar }: Columns): TableShape => ({
  name: 'build_systems',
  columns: [
    varchar('build_id', 36, KEY),
    varchar('resource_definition_id', 36, KEY),
    varchar('system_id', 36),
    varchar('resource_id', 36),
    varchar('type', 16),
    varchar('resource_name', 255),
    varchar('name', 255),
    varchar('description', 2000),
    varchar('base_url', 2048, OPTIONAL),
    varchar('authorization_type', 16, OPTIONAL),
    varchar('client_id', 255, OPTIONAL),
    varchar('identity_provider_url', 2048, OPTIONAL),
  ],
  indices: [],
});

const buildTools = ({ varchar, text, other }: Columns): TableShape => ({
  name: 'build_tools',
  columns: [
    varchar('build_id', 36, KEY),
    varchar('tool_id', 36, KEY),
    varchar('system_id', 36),
    varchar('name', 128),
    varchar('title', 255, OPTIONAL),
    text('description'),
    text('input_schema'),
    text('output_schema', OPTIONAL),
    text('annotations', OPTIONAL),
    varchar('definition_hash', 64),
    other('enabled', 'boolean'),
    other('position', 'integer'),
  ],
  indices: [new TableIndex({ name: 'ix_build_tools_system', columnNames: ['build_id', 'system_id'] })],
});

const processNodes = ({ varchar, other }: Columns): TableShape => ({
  name: 'process_nodes',
  columns: [
    other('id', 'bigint', KEY),
    varchar('definition_svc_uuid', 64),
    varchar('node_svc_uuid', 64),
    varchar('bpmn_id', 255),
  ],
  indices: [unique('uq_process_nodes_node', ['definition_svc_uuid', 'node_svc_uuid'])],
});

const activeBuilds = ({ varchar, text, time }: Columns): TableShape => ({
  name: 'active_builds',
  columns: [
    varchar('app_id', 64, KEY),
    varchar('build_id', 36, OPTIONAL),
    time('activated_at', OPTIONAL),
    text('activated_by', OPTIONAL),
  ],
  indices: [],
});
