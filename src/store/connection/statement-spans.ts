import { SpanKind } from '@opentelemetry/api';
import type { DataSource, QueryRunner } from 'typeorm';
import { inSpan, recordedSpan } from '../../platform/observability/tracing/spans.js';
import { queryPool } from './server-pool.js';
import { onQueryRunner, replaceQuery, replaceRawQuery } from './typeorm-hooks.js';

/** Names of databases in OpenTelemetry (Semantic Conventions, "Database"). */
const SYSTEMS: Readonly<Record<string, string>> = {
  'better-sqlite3': 'sqlite',
  mysql: 'mysql',
  mariadb: 'mariadb',
};
/** Groups: the first word of a statement, and its first table. */
const SUMMARY =
  /^\s*(?:(SELECT|DELETE|WITH)\b.*?\bFROM\s+[`"(]*(\w+)|(INSERT|REPLACE)\b.*?\bINTO\s+[`"]?(\w+)|(UPDATE)\s+[`"]?(\w+)|(\w+))/is;
const MAX_PARSED = 4_096;

const watched = new WeakSet<QueryRunner>();

/**
 * Records a span with the text, without values, for each statement of a recorded trace. Other statements pass unchanged, except on the
 * query runner of the embedded file, which is always the same one.
 */
export function watchStatements(dataSource: DataSource): void {
  onQueryRunner(dataSource, (runner) => {
    if (recordedSpan() !== undefined && !watched.has(runner)) {
      watched.add(runner);
      replaceQuery(
        runner,
        (send) =>
          (...args) =>
            asStatement(dataSource, String(args[0]), () => send(...args)),
      );
    }
  });
}

function asStatement<Result>(
  { options }: DataSource,
  sql: string,
  send: () => Promise<Result>,
): Promise<Result> {
  if (recordedSpan() === undefined) {
    return send();
  }
  const [, ...groups] = SUMMARY.exec(sql.slice(0, MAX_PARSED)) ?? [];
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

/** Sends raw statements outside of transactions directly to the server's pool, and records spans. Call once per data source. */
export function sendDirectly(dataSource: DataSource): void {
  replaceRawQuery(dataSource, (sql, values) =>
    asStatement(dataSource, sql, () => queryPool(dataSource, sql, values)),
  );
  watchStatements(dataSource);
}
