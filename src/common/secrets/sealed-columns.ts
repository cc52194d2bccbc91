import type { EntityManager } from 'typeorm';
import { sealedPrefix, type SecretPlace } from './secret-cipher.js';

/** Every column that holds sealed values, with the primary key of its table. */
const SEALED_COLUMNS = [{ table: 'systems', idColumn: 'id', column: 'client_secret' }] as const;

/** One sealed value and where it stands. */
export interface SealedValue {
  place: SecretPlace;
  sealed: string;
}

/** Whether any stored value was sealed with this key. */
export async function isKeyInUse(manager: EntityManager, keyId: string): Promise<boolean> {
  const prefix = sealedPrefix(keyId);
  for (const { table, column } of SEALED_COLUMNS) {
    const sql = `SELECT 1 FROM ${table} WHERE SUBSTR(${column}, 1, ?) = ? LIMIT 1`;
    const rows = (await manager.query(sql, [prefix.length, prefix])) as unknown[];
    if (rows.length > 0) {
      return true;
    }
  }
  return false;
}

/** All sealed values in batches of at most `size`, in the order of their rows. */
export async function* sealedValues(manager: EntityManager, size: number): AsyncGenerator<SealedValue[]> {
  for (const { table, idColumn, column } of SEALED_COLUMNS) {
    const sql =
      `SELECT ${idColumn} AS id, ${column} AS sealed FROM ${table} ` +
      `WHERE ${column} IS NOT NULL AND ${idColumn} > ? ORDER BY ${idColumn} LIMIT ${size}`;
    let last = '';
    for (;;) {
      const rows = (await manager.query(sql, [last])) as { id: string; sealed: string }[];
      const end = rows.at(-1);
      if (end === undefined) {
        break;
      }
      last = end.id;
      yield rows.map(({ id, sealed }) => ({ place: { table, rowId: id, column }, sealed }));
    }
  }
}

/** Replaces a sealed value unless somebody changed it meanwhile. */
export async function replaceSealed(
  manager: EntityManager,
  { place: { table, column, rowId }, sealed }: SealedValue,
  next: string,
): Promise<void> {
  const known = SEALED_COLUMNS.find((item) => item.table === table && item.column === column);
  if (known !== undefined) {
    const sql = `UPDATE ${known.table} SET ${known.column} = ? WHERE ${known.idColumn} = ? AND ${known.column} = ?`;
    await manager.query(sql, [next, rowId, sealed]);
  }
}
