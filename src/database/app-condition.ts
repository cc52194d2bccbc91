import type { DataSource, EntityManager } from 'typeorm';
import type { SomeApps } from '../common/user/grant.js';
import type { Condition } from './conditions.js';
import { isEmbedded } from './row-locks.js';

/**
 * That a column holds the id of one of these applications, as SQL in parentheses. Ids are compared exactly, on the servers by
 * the collation of their columns.
 * @param bind adds a value to the statement and gives what stands there for it
 */
export function appCondition(
  dataSource: DataSource,
  column: string,
  { ids, patterns }: SomeApps,
  bind: (value: string) => string,
): string {
  const alternatives = patterns.map((pattern) =>
    // SQLite takes no account of case in LIKE. Its GLOB has the same wildcard as our patterns, which hold no `?` and `[`.
    isEmbedded(dataSource)
      ? `${column} GLOB ${bind(pattern)}`
      : `${column} LIKE ${bind(likePattern(pattern))} ESCAPE '!'`,
  );
  if (ids.size > 0) {
    alternatives.push(`${column} IN (${[...ids].map(bind).join(', ')})`);
  }
  return `(${alternatives.join(' OR ') || '1 = 0'})`;
}

/**
 * The same as a condition of a statement whose values are question marks; nothing for all applications.
 * @param apps null for all
 */
export function inApps(
  { connection }: Pick<EntityManager, 'connection'>,
  column: string,
  apps: SomeApps | null,
): Condition {
  if (apps === null) {
    return { sql: '', values: [] };
  }
  const values: string[] = [];
  const sql = appCondition(connection, column, apps, (value) => {
    values.push(value);
    return '?';
  });
  return { sql, values };
}

function likePattern(pattern: string): string {
  return pattern.replaceAll(/[!%_]/g, '!$&').replaceAll('*', '%');
}
