import { SpanKind } from '@opentelemetry/api';
import type { DataSource, QueryRunner } from 'typeorm';
import { inSpan, recordedSpan } from '../../platform/observability/tracing/spans.js';
import { queryPool } from './server-pool.js';

/** How OpenTelemetry names databases (Semantic Conventions, "Database"). */
const SYSTEMS: Readonly<Record<string, string>> = {
  'better-sqlite3': 'sqlite',
  mysql: 'mysql',
  mariadb: 'mariadb',
};
/** Groups: the first word, and the table where the statement begins with one. */
const SUMMARY =
  /^\s*(?:(SELECT|DELETE|WITH)\b.*?\bFROM\s+[`"(]*(\w+)|(INSERT|REPLACE)\b.*?\bINTO\s+[`"]?(\w+)|(UPDATE)\s+[`"]?(\w+)|(\w+))/is;
const READ_OF_IT = 4_096;

const watched = new WeakSet<QueryRunner>();

/**
 * Makes a span of each statement of a trace that is recorded: its text, which has marks in place of values. Other statements are sent as they
 * are, with nothing in between but for the runner of the embedded file, which is always the same one.
 */
export function watchStatements(dataSource: DataSource): void {
  const create = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => {
    const runner = create(mode);
    if (recordedSpan() !== undefined && !watched.has(runner)) {
      watched.add(runner);
      const send = runner.query.bind(runner) as (...args: unknown[]) => Promise<never>;
      runner.query = (...args: unknown[]): Promise<never> =>
        asStatement(dataSource, String(args[0]), () => send(...args));
    }
    return runner;
  };
}

function asStatement<Result>(
  { options }: DataSource,
  sql: string,
  send: () => Promise<Result>,
): Promise<Result> {
  if (recordedSpan() === undefined) {
    return send();
  }
  const [, ...groups] = SUMMARY.exec(sql.slice(0, READ_OF_IT)) ?? [];
  const [operation = '', table] = groups.filter((group) => group !== undefined);
  const summary = [operation.toUpperCase(), ...(table === undefined ? [] : [table])].join(' ');
  const attributes = {
    'db.system.name': SYSTEMS[options.type] ?? options.type,
    'db.query.text': sql,
    'db.query.summary': summary,
    'db.operation.name': operation.toUpperCase(),
    'db.collection.name': table,
  };
  return inSpan(summary, { kind: SpanKind.CLIENT, attributes }, send);
}

/**
 * Sends statements outside of transactions that are spelled out to the pool of a server by the shortest way, and makes
 * spans of statements where a trace is recorded. Once for each data source.
 */
export function sendDirectly(dataSource: DataSource): void {
  dataSource.manager.query = <Rows>(sql: string, values: unknown[] = []) =>
    asStatement(dataSource, sql, () => queryPool(dataSource, sql, values) as Promise<Rows>);
  watchStatements(dataSource);
}
