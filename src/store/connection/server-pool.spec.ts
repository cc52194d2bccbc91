import { once } from 'node:events';
import { Socket, type AddressInfo, type Server } from 'node:net';
import { promisify } from 'node:util';
import mysql2, { type Connection, type Pool, type PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import { afterEach, describe, expect, it } from 'vitest';
import { isAwaitingAnswer, socketOf } from './mysql2-internals.js';
import { dropConnections, poolFactory, poolState, type PoolRules } from './server-pool.js';

const LIMIT = 200;
const RULES: PoolRules = {
  sessionStatements: [],
  silenceMs: 60_000,
  queue: 1,
  waitMs: 60_000,
  prepares: false,
};
const TEXT = { catalog: 'def', schema: '', table: '', orgTable: '', name: 'bytes', orgName: '' };
const COLUMN = { ...TEXT, characterSet: 45, columnLength: 20, columnType: 253, flags: 0, decimals: 0 };

/** Server side of mysql2, which its types lack. */
interface ServedConnection extends Connection {
  serverHandshake(options: object): void;
  writeColumns(columns: object[]): void;
  writeTextRow(values: unknown[]): void;
  writeEof(): void;
}

/** A server in this process that answers everything but `SILENCE`, so that no test depends on a database. */
async function poolOfServer(rules: Partial<PoolRules>): Promise<Pool> {
  const server = mysql2.createServer((plain) => {
    const served = plain as ServedConnection;
    served.on('error', () => undefined);
    served.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.0',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 8,
      capabilityFlags: 0xffffff,
    });
    served.on('query', (sql: string) => {
      if (sql !== 'SILENCE') {
        // Servers restart the sequence with each command, but mysql2 does not.
        served.sequenceId = 1;
        served.writeColumns([COLUMN]);
        served.writeTextRow([String(LIMIT)]);
        served.writeEof();
        served.sequenceId = 0;
      }
    });
  });
  const { _server: listening } = server as unknown as { _server: Server };
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const { port } = listening.address() as AddressInfo;
  const pool = poolFactory({ ...RULES, ...rules })({ host: '127.0.0.1', port, connectionLimit: 1 });
  ended.push(() => {
    pool.end(() => undefined);
    server.close(() => undefined);
  });
  return pool;
}

const ended: (() => void)[] = [];
const borrowed = (pool: Pool): Promise<PoolConnection> =>
  promisify<PoolConnection>((done) => pool.getConnection(done as never))();
const sent = (connection: Connection, sql: string, values: unknown[] = []): Promise<unknown> =>
  promisify<unknown>((done) => connection.query(sql, values, done))();
const stateOf = (pool: Pool): ReturnType<typeof poolState> =>
  poolState({ driver: { pool } } as unknown as DataSource);

describe('the pool of a server', () => {
  afterEach(() => ended.splice(0).forEach((end) => end()));

  it('counts connections and waiting callers', async () => {
    const pool = await poolOfServer({});
    const connection = await borrowed(pool);
    const next = borrowed(pool);
    expect(stateOf(pool)).toEqual({ used: 1, idle: 0, waiting: 1 });
    await expect(borrowed(pool)).rejects.toMatchObject({ name: 'DatabaseOverloadedError' });
    connection.release();
    expect(await next).toBe(connection);
    expect(stateOf(pool)).toEqual({ used: 1, idle: 0, waiting: 0 });
    connection.release();
    expect(stateOf(pool)).toEqual({ used: 0, idle: 1, waiting: 0 });
  });

  it('rejects callers that wait too long, and keeps a connection that becomes available later', async () => {
    const pool = await poolOfServer({ waitMs: 300 });
    const connection = await borrowed(pool);
    await expect(borrowed(pool)).rejects.toMatchObject({ name: 'DatabaseOverloadedError' });
    connection.release();
    await expect.poll(() => stateOf(pool)).toEqual({ used: 0, idle: 1, waiting: 0 });
  });

  it('closes connections opened before a time: idle ones now, others when they are released', async () => {
    const pool = await poolOfServer({});
    const drop = (): void =>
      dropConnections({ driver: { pool } } as unknown as DataSource, performance.now() + 1);
    (await borrowed(pool)).release();
    drop();
    expect(stateOf(pool)).toEqual({ used: 0, idle: 0, waiting: 0 });
    const connection = await borrowed(pool);
    drop();
    expect(stateOf(pool)).toMatchObject({ used: 1 });
    connection.release();
    expect(stateOf(pool)).toEqual({ used: 0, idle: 0, waiting: 0 });
    expect(await sent(await borrowed(pool), 'SELECT 1')).toEqual([{ bytes: String(LIMIT) }]);
  });

  it('closes a connection whose server does not answer', async () => {
    const pool = await poolOfServer({ silenceMs: 50 });
    const connection = await borrowed(pool);
    await sent(connection, 'SELECT 1');
    expect(isAwaitingAnswer(connection)).toBe(false);
    expect(socketOf(connection)).toBeInstanceOf(Socket);
    expect(socketOf(connection.promise())).toBe(socketOf(connection));
    const answer = sent(connection, 'SILENCE');
    expect(isAwaitingAnswer(connection)).toBe(true);
    await expect(answer).rejects.toMatchObject({ code: 'DATABASE_SILENT', fatal: true });
  });

  it.each([
    ['query', 'SELECT ?', ["'".repeat(LIMIT / 2)]],
    ['query', 'SELECT ?', [Buffer.alloc(LIMIT / 2)]],
    ['query', `SELECT '${'ü'.repeat(LIMIT / 2)}'`, []],
    ['execute', 'SELECT ?', ['a'.repeat(LIMIT)]],
  ] as const)('rejects a statement beyond the packet limit: %s %s', async (how, sql, values) => {
    const connection = await borrowed(await poolOfServer({}));
    await sent(connection, 'SELECT 1');
    const answer = promisify<unknown>((done) =>
      how === 'query' ? connection.query(sql, [...values], done) : connection.execute(sql, [...values], done),
    )();
    await expect(answer).rejects.toMatchObject({ code: 'ER_NET_PACKET_TOO_LARGE' });
    expect(await sent(connection, 'SELECT ?', ['a'.repeat(LIMIT / 2)])).toEqual([{ bytes: String(LIMIT) }]);
  });
});
