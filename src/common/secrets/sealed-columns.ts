import type { EntityManager } from 'typeorm';
import type { SecretPlace } from './secret-cipher.js';

/** A column that holds sealed values. */
interface SealedColumn {
  table: string;
  /** Primary key of the table. */
  idColumn: string;
  column: string;
  /** Columns that the values are bound to. */
  boundTo: readonly string[];
}

const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'systems',
    idColumn: 'id',
    column: 'client_secret',
    boundTo: [
      'base_url',
      'identity_provider_url',
      'client_id',
      'authorization_type',
      'tls_ca',
      'credential_options',
    ],
  },
  {
    table: 'systems',
    idColumn: 'id',
    column: 'tls_key',
    boundTo: ['base_url', 'identity_provider_url', 'tls_ca', 'tls_certificate'],
  },
  {
    table: 'systems',
    idColumn: 'id',
    column: 'headers',
    boundTo: ['base_url', 'identity_provider_url', 'tls_ca', 'header_names'],
  },
  { table: 'process_corrections', idColumn: 'id', column: 'sealed', boundTo: [] },
];
/** All formats are equally long: `svc1.`, `svc2.` */
const KEY_ID_START = 6;

/** One sealed value and where it stands. */
export interface SealedValue {
  place: SecretPlace;
  sealed: string;
}

type SealedRow = { id: string; sealed: string } & Record<string, string | null>;

/** Whether any stored value was sealed with this key. */
export async function isKeyInUse(manager: EntityManager, keyId: string): Promise<boolean> {
  const id = `${keyId}.`;
  for (const { table, column } of SEALED_COLUMNS) {
    const sql = `SELECT 1 FROM ${table} WHERE SUBSTR(${column}, ${KEY_ID_START}, ?) = ? LIMIT 1`;
    const rows = (await manager.query(sql, [id.length, id])) as unknown[];
    if (rows.length > 0) {
      return true;
    }
  }
  return false;
}

/** All sealed values in batches of at most `size`, in the order of their rows. */
export async function* sealedValues(manager: EntityManager, size: number): AsyncGenerator<SealedValue[]> {
  for (const { table, idColumn, column, boundTo } of SEALED_COLUMNS) {
    const beside = boundTo.map((name) => `, ${name}`).join('');
    const sql =
      `SELECT ${idColumn} AS id, ${column} AS sealed${beside} FROM ${table} ` +
      `WHERE ${column} IS NOT NULL AND ${idColumn} > ? ORDER BY ${idColumn} LIMIT ${size}`;
    let last = '';
    for (;;) {
      const rows = (await manager.query(sql, [last])) as SealedRow[];
      const end = rows.at(-1);
      if (end === undefined) {
        break;
      }
      last = end.id;
      yield rows.map((row) => {
        const binding = boundTo.map((name) => row[name] ?? null);
        return { place: { table, rowId: row.id, column, binding }, sealed: row.sealed };
      });
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
