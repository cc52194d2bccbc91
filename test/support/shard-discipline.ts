import type { DataSource, Logger, QueryRunner } from 'typeorm';

/** Tables of running processes: each of their rows has a shard, and call trees are in one. */
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
/** In place of a group of shards. */
const NO_SHARD = -1;
const CHANGES = /^(INSERT|UPDATE|DELETE)\b/i;
const BEGINS = /^(BEGIN|START TRANSACTION)/i;
const READS_OF_SCHEMA = /sqlite_master|information_schema|PRAGMA/i;
const INSERT = /^INSERT[^(]*\(([^)]*)\)\s*VALUES\s*(.*)$/is;
/** Numbers may be values, or stand in the text. */
const NAMED = /[`"]?\bshard\b[`"]? (?:= (\?|\d+)|IN \(([?\d, ]*)\))/g;

/** Reads that look into every shard, each for a reason of its own; all of them outside of transactions. */
const EVERYWHERE: readonly RegExp[] = [
  // Lists, newest first.
  /^SELECT \* FROM \(SELECT 0 AS part, [^(]* FROM process_instances .*ORDER BY uuid DESC LIMIT \?\) AS part\d+$/,
  /FROM workflow_runs( WHERE .*)? ORDER BY id DESC LIMIT/,
  /^SELECT \* FROM \(SELECT 0 AS part, [^(]* FROM process_incidents .*ORDER BY uuid DESC LIMIT \?\) AS part\d+$/,
  /^SELECT \* FROM \(SELECT 0 AS part, [^(]* FROM process_search_values (\w+ (BY|INDEX) \S+ )?WHERE term = \? .*ORDER BY uuid DESC LIMIT \?\) AS part\d+$/,
  /^SELECT [^(]* FROM process_instances WHERE definition_id = \? .*ORDER BY uuid DESC LIMIT \?$/,
  /FROM workflow_calls c\b.* ORDER BY c\.started_at DESC LIMIT \?$/,
  // Counts, and what cleaning up looks for.
  /^SELECT run\.state AS state, COUNT\(\*\) AS amount FROM workflow_runs run WHERE /,
  /^SELECT [^(]*COUNT\(\*\) AS amount, MIN\(uuid\) AS oldest, .* FROM process_instances WHERE state = \? /,
  /^SELECT [^(]*COUNT\(\*\) AS amount FROM process_incidents WHERE (\w+ = \? AND )*state = \?/,
  /^SELECT DISTINCT instance_id FROM process_incidents WHERE state = \?( AND app_id = \?)? LIMIT \?$/,
  // Instances of a build that is withdrawn.
  /^SELECT [^(]* FROM process_instances WHERE app_id = \? AND state = \? AND build_id = \? ORDER BY uuid ASC LIMIT \?$/,
  // Tokens wait for a message where their instances are.
  /FROM process_message_waits waits JOIN process_instances instances ON .*instances\.shard = waits\.shard/,
  // Metrics and quotas.
  /^SELECT i\.root_app_id AS app/,
  /^SELECT COALESCE\(SUM\(amount\), 0\) AS total/,
];

/** Reads of rows by ids that a list has found in several groups of shards, or that somebody follows. */
const OF_SEVERAL: readonly RegExp[] = [
  /FROM process_(instances|incidents|tokens) WHERE id IN/,
  /FROM process_(events|incidents) WHERE instance_id IN/,
];

/**
 * Holds statements against what a sharded database asks for: each names the shard of its rows, and no transaction touches two, nor
 * a sharded table and another one.
 */
export class ShardDiscipline {
  private constructor(private readonly groups: number) {}

  /** What was broken, each with its statement. */
  readonly violations = new Set<string>();
  /** By connection: what its transaction has touched. */
  private readonly touched = new WeakMap<QueryRunner, Set<unknown>>();

  /** Listens to the statements of a service; tests send statements of their own, which are none of them. */
  static of(dataSource: DataSource, groups: number, isOfService: () => boolean): ShardDiscipline {
    const discipline = new ShardDiscipline(groups);
    dataSource.logger = {
      logQuery: (sql: string, values?: unknown[], runner?: QueryRunner) => {
        if (isOfService() || BEGINS.test(sql)) {
          discipline.look(sql, values ?? [], runner);
        }
      },
      logQueryError: () => undefined,
    } as unknown as Logger;
    return discipline;
  }

  private look(sql: string, values: readonly unknown[], runner: QueryRunner | undefined): void {
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
    if (new Set(places).size > 1 && !OF_SEVERAL.some((pattern) => pattern.test(sql))) {
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

/** The shards that a statement names. */
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

/** The values of a list: marks, and what stands in the text. */
function valuesOf(list: string, values: readonly unknown[]): unknown[] {
  let next = 0;
  return list
    .split(',')
    .map((part) => (part.includes('?') ? values[next++] : part.replaceAll(/[^\w.-]/g, '')));
}
