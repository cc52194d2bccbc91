import type { EntityManager } from 'typeorm';
import { statementBatches } from '../../../database/statement-batches.js';

/** What all drivers bind alike. */
export type SqlValue = string | number | boolean | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A time as datetime columns of every database take it: UTC with milliseconds. */
export function sqlTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '');
}

/** As `sqlTime`, null for null. */
export function sqlTimeOrNull(time: Date | null): string | null {
  return time === null ? null : sqlTime(time);
}

/** Text of any length for a `json` column, character by character; see `storedText`. */
export function sqlText(text: string): string {
  return JSON.stringify({ text });
}

/** Adds rows that all have the columns of the first one; nothing without rows. */
export async function insertRows(
  manager: EntityManager,
  table: string,
  rows: readonly SqlRow[],
): Promise<void> {
  for (const batch of statementBatches(rows, bytesOf)) {
    await insert(manager, table, batch);
  }
}

function bytesOf(row: SqlRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 8),
    0,
  );
}

async function insert(manager: EntityManager, table: string, rows: readonly SqlRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const tuple = `(${columns.map(() => '?').join(', ')})`;
  const values = rows.flatMap((row) => columns.map((column) => row[column] ?? null));
  await manager.query(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => tuple).join(', ')}`,
    values,
  );
}

/** Runs an UPDATE or DELETE; returns how many rows it found. */
export async function change(
  manager: EntityManager,
  sql: string,
  parameters: readonly SqlValue[],
): Promise<number> {
  const runner = manager.queryRunner;
  if (runner === undefined) {
    throw new TypeError('Rows are changed inside of a transaction only.');
  }
  const { affected } = await runner.query(sql, [...parameters], true);
  return affected ?? 0;
}

/** Placeholders for the values of an IN list. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
