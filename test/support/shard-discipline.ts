import type { DataSource, Logger, QueryRunner } from 'typeorm';

/** Tables of running processes. Each row has a shard, which is the same for all rows of a process family. */
export const SHARDED_TABLES: readonly string[] = [
  'process_corrections',
  'process_events',
  'process_families',
  'process_incidents',
  'process_instances',
  'process_message_waits',
  'process_messages',
  'process_repeats',
  'process_search_values',
  'process_tokens',
  'runtime_jobs',
  'workflow_calls',
  'workflow_runs',
];
const SHARDED = new RegExp(`\\b(${SHARDED_TABLES.join('|')})\\b`);
/** Represents unsharded tables, in place of a group of shards. */
const NO_SHARD = -1;
const CHANGES = /^(INSERT|UPDATE|DELETE)\b/i;
const BEGINS = /^(BEGIN|START TRANSACTION)/i;
const READS_OF_SCHEMA = /sqlite_master|information_schema|PRAGMA/i;
const INSERT = /^INSERT[^(]*\(([^)]*)\)\s*VALUES\s*(.*)$/is;
/** Conditions on the shard. The numbers are parameters or literals. */
const NAMED = /[`"]?\bshard\b[`"]? (?:= (\?|\d+)|IN \(([?\d, ]*)\))/g;

/** Queries that may read every shard, outside of transactions only. */
const EVERYWHERE: readonly RegExp[] = [
  // Lists, newest first.
  /^SELECT \* FROM \(SELECT 0 AS part, [^(]* FROM process_instances .*ORDER BY uuid DESC LIMIT \?\) AS part\d+$/,
  /FROM workflow_runs( WHERE .*)? ORDER BY id DESC LIMIT/,
  /^SELECT \* FROM \(SELECT 0 AS part, [^(]* FROM process_incidents .*ORDER BY uuid DESC LIMIT \?\) AS part\d+$/,
  /^SELECT \* FROM \(SELECT 0 AS part, [^(]* FROM process_search_values (\w+ (BY|INDEX) \S+ )?WHERE term = \? .*ORDER BY uuid DESC LIMIT \?\) AS part\d+$/,
  /^SELECT [^(]* FROM process_instances WHERE definition_id = \? .*ORDER BY uuid DESC LIMIT \?$/,
  /FROM workflow_calls c\b.* ORDER BY c\.started_at DESC LIMIT \?$/,
  // Counts, and candidates for cleanup.
  /^SELECT run\.state AS state, COUNT\(\*\) AS amount FROM workflow_runs run WHERE /,
  /^SELECT [^(]*COUNT\(\*\) AS amount, MIN\(uuid\) AS oldest, .* FROM process_instances WHERE state = \? /,
  /^SELECT [^(]*COUNT\(\*\) AS amount FROM process_incidents WHERE (\w+ = \? AND )*state = \?/,
  /^SELECT DISTINCT instance_id FROM process_incidents WHERE state = \?( AND app_id = \?)? LIMIT \?$/,
  // Instances of a withdrawn build.
  /^SELECT [^(]* FROM process_instances WHERE app_id = \? AND state = \? AND build_id = \? ORDER BY uuid ASC LIMIT \?$/,
  // Tokens that wait for a message; each is in the shard of its instance.
  /FROM process_message_waits waits JOIN process_instances instances ON .*instances\.shard = waits\.shard/,
  // Metrics and quotas.
  /^SELECT i\.root_app_id AS app/,
  /^SELECT COALESCE\(SUM\(amount\), 0\) AS total/,
];

/** Queries by ids that may belong to several groups of shards: ids from a list, or of followed instances. */
const MULTI_GROUP: readonly RegExp[] = [
  /FROM process_(instances|incidents|tokens) WHERE id IN/,
  /FROM process_(events|incidents) WHERE instance_id IN/,
];

/**
 * Checks statements against the rules of a sharded database: each statement names the shard of its rows, and no
 * transaction touches two groups of shards, or both sharded and unsharded tables.
 */
export class ShardDiscipline {
  private constructor(private readonly groups: number) {}

  /** Violated rules, each with its statement. */
  readonly violations = new Set<string>();
  /** Groups of shards that the current transaction of each connection has touched. */
  private readonly touched = new WeakMap<QueryRunner, Set<unknown>>();

  /** Checks the statements of a service. Statements that tests send themselves are ignored. */
  static of(dataSource: DataSource, groups: number, isOfService: () => boolean): ShardDiscipline {
    const discipline = new ShardDiscipline(groups);
    dataSource.logger = {
      logQuery: (sql: string, values?: unknown[], runner?: QueryRunner) => {
        if (isOfService() || BEGINS.test(sql)) {
          discipline.check(sql, values ?? [], runner);
        }
      },
      logQueryError: () => undefined,
    } as unknown as Logger;
    return discipline;
  }

  private check(sql: string, values: readonly unknown[], runner: QueryRunner | undefined): void {
    const inTransaction = runner?.isTransactionActive === true;
    if (runner !== undefined && BEGINS.test(sql)) {
      this.touched.set(runner, new Set());
      return;
    }
    if (READS_OF_SCHEMA.test(sql)) {
      return;
    }
    const shards = SHARDED.test(sql) ? shardsOf(sql, values) : [];
    const places =
      shards.length > 0 || !CHANGES.test(sql) ? shards.map((shard) => shard % this.groups) : [NO_SHARD];
    if (shards.length === 0 && SHARDED.test(sql) && (inTransaction || !isEverywhere(sql))) {
      this.violations.add(`names no shard: ${sql}`);
    }
    if (new Set(places).size > 1 && !MULTI_GROUP.some((pattern) => pattern.test(sql))) {
      this.violations.add(`goes to several groups of shards: ${sql}`);
    }
    const touched = inTransaction && runner !== undefined ? this.touched.get(runner) : undefined;
    places.forEach((place) => touched?.add(place));
    if (touched !== undefined && touched.size > 1) {
      this.violations.add(`a transaction touches ${[...touched].join(', ')}: ${sql}`);
    }
  }
}

function isEverywhere(sql: string): boolean {
  const line = sql.replace(/\s+/g, ' ');
  return EVERYWHERE.some((pattern) => pattern.test(line));
}

/** Returns the shards that a statement names. */
function shardsOf(sql: string, values: readonly unknown[]): number[] {
  const [, columns, tuples] = INSERT.exec(sql) ?? [];
  if (columns !== undefined && tuples !== undefined) {
    const at = columns.split(',').findIndex((name) => name.replaceAll(/[\s`"]/g, '') === 'shard');
    const width = columns.split(',').length;
    const given = valuesOf(tuples.replace(/\bON (DUPLICATE|CONFLICT)\b.*/is, ''), values);
    return at === -1 ? [] : given.filter((_, index) => index % width === at).map(Number);
  }
  return [...sql.matchAll(NAMED)].flatMap((match) => {
    const before = (sql.slice(0, match.index).match(/\?/g) ?? []).length;
    return valuesOf(match[1] ?? match[2] ?? '', values.slice(before)).map(Number);
  });
}

/** Returns the values of a list, which contains placeholders and literals. */
function valuesOf(list: string, values: readonly unknown[]): unknown[] {
  let next = 0;
  return list
    .split(',')
    .map((part) => (part.includes('?') ? values[next++] : part.replaceAll(/[^\w.-]/g, '')));
}
