import {
  Table,
  TableIndex,
  type MigrationInterface,
  type QueryRunner,
  type TableColumnOptions,
} from 'typeorm';

type Column = TableColumnOptions;

/** Running processes: instances, tokens, events, messages, incidents and the answers kept for repeats. */
export class CreateProcessRuntime1790000001000 implements MigrationInterface {
  readonly name = 'CreateProcessRuntime1790000001000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables(columnsFor(runner))) {
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
  other: (name: string, type: 'integer' | 'bigint' | 'boolean' | 'json', extra?: Partial<Column>) => Column;
}

function columnsFor(runner: QueryRunner): Columns {
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
}

const unique = (name: string, columnNames: string[]): TableIndex =>
  new TableIndex({ name, columnNames, isUnique: true });
const index = (name: string, columnNames: string[]): TableIndex => new TableIndex({ name, columnNames });

function tables(columns: Columns): TableShape[] {
  return [
    instances(columns),
    tokens(columns),
    events(columns),
    repeats(columns),
    messageWaits(columns),
    messages(columns),
    incidents(columns),
  ];
}

const instances = (columns: Columns): TableShape => ({
  name: 'process_instances',
  columns: [...identityColumns(columns), ...parentColumns(columns), ...stateColumns(columns)],
  indices: [
    unique('uq_process_instances_uuid', ['uuid']),
    unique('uq_process_instances_parent_key', ['parent_key']),
    index('ix_process_instances_parent', ['parent_id', 'id']),
    index('ix_process_instances_app', ['app_id', 'uuid']),
    index('ix_process_instances_name', ['process_name', 'uuid']),
    index('ix_process_instances_state', ['state', 'uuid']),
    index('ix_process_instances_starter', ['starter', 'uuid']),
  ],
});

const identityColumns = ({ varchar, text, other }: Columns): Column[] => [
  other('id', 'bigint', KEY),
  varchar('uuid', 36),
  other('shard', 'integer'),
  varchar('app_id', 64),
  varchar('root_app_id', 64),
  varchar('build_id', 64),
  varchar('build_status', 16),
  other('definition_id', 'bigint'),
  varchar('definition_svc_uuid', 64),
  varchar('process_name', 255),
  varchar('platform', 32, OPTIONAL),
  varchar('starter', 64, OPTIONAL),
  text('started_by', OPTIONAL),
];

const parentColumns = ({ varchar, other }: Columns): Column[] => [
  varchar('parent_app_id', 64, OPTIONAL),
  other('parent_id', 'bigint', OPTIONAL),
  varchar('parent_uuid', 36, OPTIONAL),
  other('parent_token_id', 'bigint', OPTIONAL),
  other('parent_visit', 'integer', OPTIONAL),
  other('parent_index', 'integer', OPTIONAL),
  other('parent_seq', 'integer', OPTIONAL),
  other('parent_waits', 'boolean'),
  varchar('parent_key', 64, OPTIONAL),
  other('depth', 'integer'),
];

const stateColumns = ({ varchar, time, other }: Columns): Column[] => [
  varchar('state', 16),
  other('rev', 'integer'),
  other('seq', 'integer'),
  other('open_incidents', 'integer'),
  other('content', 'json'),
  time('started_at'),
  time('modified_at'),
  time('ended_at', OPTIONAL),
  time('expires_at', OPTIONAL),
];

const tokens = ({ varchar, time, other }: Columns): TableShape => ({
  name: 'process_tokens',
  columns: [
    other('id', 'bigint', KEY),
    varchar('uuid', 36),
    other('shard', 'integer'),
    other('instance_id', 'bigint'),
    other('live', 'boolean'),
    other('parent_id', 'bigint', OPTIONAL),
    other('scope_token_id', 'bigint', OPTIONAL),
    other('start_node', 'integer'),
    other('node', 'integer'),
    varchar('state', 16),
    varchar('status', 32),
    other('visit', 'integer'),
    other('sync_count', 'integer'),
    other('sync_finished', 'integer'),
    other('rev', 'integer'),
    other('has_jobs', 'boolean'),
    other('has_waits', 'boolean'),
    other('content', 'json'),
    time('created_at'),
    time('modified_at'),
  ],
  indices: [index('ix_process_tokens_instance', ['instance_id', 'live'])],
});

const events = ({ varchar, time, other }: Columns): TableShape => ({
  name: 'process_events',
  columns: [
    other('instance_id', 'bigint', KEY),
    other('seq', 'integer', KEY),
    other('shard', 'integer'),
    varchar('kind', 32),
    other('token_id', 'bigint', OPTIONAL),
    other('node', 'integer', OPTIONAL),
    varchar('actor', 255, OPTIONAL),
    varchar('request_id', 64, OPTIONAL),
    time('at'),
    other('data', 'json', OPTIONAL),
  ],
  indices: [],
});

const repeats = ({ varchar, time, other }: Columns): TableShape => ({
  name: 'process_repeats',
  columns: [
    varchar('key_hash', 64, KEY),
    varchar('body_hash', 64),
    other('response', 'json'),
    time('created_at'),
  ],
  indices: [index('ix_process_repeats_created', ['created_at'])],
});

const messageWaits = ({ varchar, other }: Columns): TableShape => ({
  name: 'process_message_waits',
  columns: [
    other('id', 'bigint', KEY),
    other('shard', 'integer'),
    other('instance_id', 'bigint'),
    other('token_id', 'bigint'),
    other('visit', 'integer'),
    other('node', 'integer'),
    varchar('wait_key', 64),
    varchar('message', 255),
  ],
  indices: [
    index('ix_process_message_waits_key', ['wait_key', 'id']),
    index('ix_process_message_waits_token', ['instance_id', 'token_id']),
  ],
});

const messages = ({ varchar, time, other }: Columns): TableShape => ({
  name: 'process_messages',
  columns: [
    other('id', 'bigint', KEY),
    varchar('wait_key', 64),
    varchar('app_id', 64),
    varchar('message', 255),
    other('payload', 'json'),
    time('published_at'),
    time('expires_at'),
  ],
  indices: [
    index('ix_process_messages_key', ['wait_key', 'id']),
    index('ix_process_messages_expiry', ['expires_at']),
  ],
});

const incidents = ({ varchar, time, other }: Columns): TableShape => ({
  name: 'process_incidents',
  columns: [
    other('id', 'bigint', KEY),
    varchar('uuid', 36),
    other('shard', 'integer'),
    other('instance_id', 'bigint'),
    varchar('state', 16),
    varchar('source', 32),
    varchar('type', 32),
    varchar('message', 2000),
    other('token_id', 'bigint', OPTIONAL),
    other('visit', 'integer', OPTIONAL),
    other('node', 'integer', OPTIONAL),
    varchar('action_svc_uuid', 64, OPTIONAL),
    other('job', 'json', OPTIONAL),
    varchar('work_key', 64),
    varchar('request_id', 64, OPTIONAL),
    time('raised_at'),
    time('closed_at', OPTIONAL),
  ],
  indices: [index('ix_process_incidents_open', ['instance_id', 'state', 'token_id'])],
});
