import type { EntityManager } from 'typeorm';
import { type SecretPlace, sealedKeyId, SecretUnreadableError, type SecretCipher } from './secret-cipher.js';

interface SealedColumn {
  table: string;
  column: string;
  boundTo: readonly string[];
}

const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'systems',
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
    column: 'tls_key',
    boundTo: ['base_url', 'identity_provider_url', 'tls_ca', 'tls_certificate'],
  },
  {
    table: 'systems',
    column: 'headers',
    boundTo: ['base_url', 'identity_provider_url', 'tls_ca', 'header_names'],
  },
  { table: 'process_corrections', column: 'sealed', boundTo: [] },
];
/** Position of the key id. All format prefixes are equally long: `svc1.`, `svc2.` */
const KEY_ID_START = 6;

const BATCH = 200;

interface SealedValue {
  place: SecretPlace;
  sealed: string;
}

type SealedRow = { id: string; sealed: string } & Record<string, string | null>;

/** Reports whether any stored value was sealed with this key. */
export async function isKeyInUse(manager: EntityManager, keyId: string): Promise<boolean> {
  const id = `${keyId}.`;
  for (const { table, column } of SEALED_COLUMNS) {
    const sql = `SELECT 1 FROM ${table} WHERE SUBSTR(${column}, ${KEY_ID_START}, ?) = ? LIMIT 1`;
    if ((await manager.query<unknown[]>(sql, [id.length, id])).length > 0) {
      return true;
    }
  }
  return false;
}

async function* sealedValues(manager: EntityManager): AsyncGenerator<SealedValue> {
  for (const { table, column, boundTo } of SEALED_COLUMNS) {
    const bindingColumns = boundTo.map((name) => `, ${name}`).join('');
    const sql =
      `SELECT id, ${column} AS sealed${bindingColumns} FROM ${table} ` +
      `WHERE ${column} IS NOT NULL AND id > ? ORDER BY id LIMIT ${BATCH}`;
    for (let last: string | undefined = ''; last !== undefined;) {
      const rows: SealedRow[] = await manager.query(sql, [last]);
      last = rows.at(-1)?.id;
      yield* rows.map((row) => {
        const binding = boundTo.map((name) => row[name] ?? null);
        return { place: { table, rowId: row.id, column, binding }, sealed: row.sealed };
      });
    }
  }
}

/**
 * Seals every stored secret again with the current key. The rotation may be interrupted and restarted at any time. It skips
 * secrets under the current key, and values that have changed since they were read.
 * @returns counts, and `unreadable`: rows, as `<table> <id>`, whose value cannot be opened with the configured keys
 */
export async function rotateSecrets(manager: EntityManager, cipher: SecretCipher) {
  const [current] = cipher.keyIds;
  const rotation = { resealed: 0, alreadyCurrent: 0, unreadable: [] as string[] };
  for await (const value of sealedValues(manager)) {
    if (sealedKeyId(value.sealed) === current) {
      rotation.alreadyCurrent += 1;
      continue;
    }
    const next = resealed(cipher, value);
    if (next === undefined) {
      rotation.unreadable.push(`${value.place.table} ${value.place.rowId}`);
      continue;
    }
    const { table, column, rowId } = value.place;
    const sql = `UPDATE ${table} SET ${column} = ? WHERE id = ? AND ${column} = ?`;
    await manager.query(sql, [next, rowId, value.sealed]);
    rotation.resealed += 1;
  }
  return rotation;
}

/** Seals a value again. Returns undefined when it cannot be opened, so that a damaged value does not stop the rotation. */
function resealed(cipher: SecretCipher, { sealed, place }: SealedValue): string | undefined {
  try {
    return cipher.seal(cipher.open(sealed, place), place);
  } catch (error) {
    if (error instanceof SecretUnreadableError) {
      return undefined;
    }
    throw error;
  }
}
