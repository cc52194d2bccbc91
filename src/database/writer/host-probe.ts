import { randomInt } from 'node:crypto';
import mysql2, { type Connection, type ConnectionOptions } from 'mysql2';
import { within } from '../../common/within.js';
import { EnvError } from '../../config/env.js';
import { isAwayCode } from '../driver-errors.js';
import { PROOF_SLOTS } from '../write-proof.entity.js';

const GROUP = "SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'";
const STATE = 'SELECT @@global.read_only AS closed';
const STATE_IN_GROUP = `
  SELECT @@global.read_only AS closed, @@server_uuid AS me, member_id AS id, member_state AS state, member_role AS role
  FROM (SELECT 1 AS one) AS one LEFT JOIN performance_schema.replication_group_members ON TRUE`;
/** How servers say that they are not read-only: newer ones of MariaDB have words for it. */
const OPEN = new Set(['0', 'OFF']);
const PROOF = 'REPLACE INTO write_proofs (slot, written_at) VALUES (?, UTC_TIMESTAMP(3))';
const NO_RIGHT = 'ER_TABLEACCESS_DENIED_ERROR';
const SILENT = 'DATABASE_SILENT';

/** What a host said when it was last looked at. */
export type HostState =
  /** It takes writes. In a replication group it is the primary of a majority. `primary` is who that is for this member; null outside of groups. */
  | { kind: 'WRITER'; primary: string | null }
  /** It takes none. */
  | { kind: 'CLOSED'; primary: string | null }
  /** Nobody is there. */
  | { kind: 'AWAY' }
  /** It does not answer in time. */
  | { kind: 'SILENT' }
  /** It does not let us look. */
  | { kind: 'REFUSED'; error: Error };

interface MemberRow {
  closed: unknown;
  me?: string;
  id?: string | null;
  state?: string;
  role?: string;
}

/** Looks at one host of the database, over a connection of its own. */
export class HostProbe {
  /** When the connection that it looks over was opened, on the clock of `performance.now()`; undefined while there is none, or none any more. */
  openedAt: number | undefined;
  private connection: Connection | undefined;
  private statement: string | undefined;

  /**
   * @param limitMs how long a look may take, with the connection where there is none yet
   * @param question what the host is asked; whether it takes writes, where nothing else is said
   */
  constructor(
    private readonly options: ConnectionOptions,
    private readonly limitMs: number,
    private readonly question?: (connection: Connection) => Promise<HostState>,
  ) {}

  /** Never rejects. One look at a time. */
  async look(): Promise<HostState> {
    try {
      return await within(this.limitMs, this.ask(), () => {
        throw Object.assign(new Error('database host is silent'), { code: SILENT });
      });
    } catch (error) {
      this.end();
      return stateAfter(error as Error);
    }
  }

  end(): void {
    this.connection?.destroy();
    this.connection = undefined;
    this.openedAt = undefined;
    this.statement = undefined;
  }

  private async ask(): Promise<HostState> {
    this.connection ??= this.open();
    const { connection } = this;
    if (this.question !== undefined) {
      return this.question(connection);
    }
    this.statement ??= (await isInGroup(connection)) ? STATE_IN_GROUP : STATE;
    return stateOf(await rowsOf<MemberRow>(connection, this.statement));
  }

  /** The next look finds it lost. */
  private forget(lost: Connection): void {
    if (this.connection === lost) {
      this.openedAt = undefined;
    }
  }

  private open(): Connection {
    const connection = mysql2.createConnection({ ...this.options, connectTimeout: this.limitMs });
    // Who asks is told; without a listener it would end the process.
    connection.on('error', () => this.forget(connection));
    connection.on('end', () => this.forget(connection));
    this.openedAt = performance.now();
    return connection;
  }
}

/**
 * What the rows of a look mean.
 * @param rows one of a server by itself; in a group one for each member that it knows of
 */
export function stateOf(rows: readonly MemberRow[]): HostState {
  const [first] = rows;
  const isOpen = OPEN.has(String(first?.closed));
  if (first?.me === undefined) {
    return isOpen ? { kind: 'WRITER', primary: null } : { kind: 'CLOSED', primary: null };
  }
  const members = rows.filter(({ id }) => typeof id === 'string');
  return isOpen && isPrimary(first.me, members)
    ? { kind: 'WRITER', primary: first.me }
    : { kind: 'CLOSED', primary: members.find(({ role }) => role === 'PRIMARY')?.id ?? null };
}

/** Whether a member is the primary, and reaches a majority of the members that it knows of. */
function isPrimary(me: string, members: readonly MemberRow[]): boolean {
  const reached = members.filter(({ state }) => state !== 'UNREACHABLE').length;
  const self = members.find(({ id }) => id === me);
  return self?.role === 'PRIMARY' && self.state === 'ONLINE' && reached * 2 > members.length;
}

function stateAfter(error: Error & { code?: string }): HostState {
  const { code } = error;
  if (code === SILENT || code === 'ETIMEDOUT') {
    return { kind: 'SILENT' };
  }
  if (code === NO_RIGHT) {
    const problem =
      'DATABASE_URL names several hosts of a replication group, and a user that may not see its members: grant it SELECT on performance_schema.replication_group_members';
    return { kind: 'REFUSED', error: new EnvError([problem]) };
  }
  return isAwayCode(code) ? { kind: 'AWAY' } : { kind: 'REFUSED', error };
}

/**
 * Asks by a write. A member that was stopped takes itself for the primary for some seconds after it goes on, and answers what it knew; but
 * it stores nothing, since that takes a majority of its group.
 */
export async function proveByWriting(connection: Connection): Promise<HostState> {
  await rowsOf(connection, PROOF, [PROOF_SLOTS + randomInt(PROOF_SLOTS)]);
  return { kind: 'WRITER', primary: null };
}

async function isInGroup(connection: Connection): Promise<boolean> {
  const [group] = await rowsOf<{ Value: string }>(connection, GROUP);
  return group !== undefined && group.Value !== '';
}

function rowsOf<Row>(connection: Connection, sql: string, values: unknown[] = []): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, values, (error, rows) => {
      if (error === null) {
        resolve(rows as Row[]);
      } else {
        reject(error);
      }
    });
  });
}
