import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource, EntityManager } from 'typeorm';
import { Log } from '../../../../src/platform/observability/logging/log.js';
import { Env } from '../../../../src/platform/config/env.js';
import { awaitDatabase } from '../../../../src/store/connection/connect.js';
import { Database } from '../../../../src/store/database.js';
import {
  CommitUnansweredError,
  DatabaseDeadlineError,
  DatabaseOverloadedError,
  DatabaseUnavailableError,
  isDatabaseFailure,
} from '../../../../src/store/database.errors.js';
import { warnOfSmallPackets } from '../../../../src/store/start-checks.js';
import { WriteProofEntity } from '../../../../src/store/write-proof.entity.js';
import { SCHEMA } from '../../../../src/schema.js';
import { TcpProxy } from '../../../../test/integration/health/tcp-proxy.js';
import { IN_TIME_MS } from '../../../../test/support/patience.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const databaseUrl = String(process.env['DATABASE_URL']);
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe.skipIf(databaseUrl.startsWith('sqlite:'))('a database server that fails', () => {
  let proxy: TcpProxy;
  const open: DataSource[] = [];

  beforeEach(async () => {
    proxy = await TcpProxy.start(databaseUrl);
  });
  afterEach(async () => {
    proxy.set('open');
    await open[0]?.manager.clear(WriteProofEntity).catch(() => undefined);
    await Promise.all(open.splice(0).map((dataSource) => dataSource.destroy()));
    await proxy.stop();
  });

  const envOf = (settings: Record<string, string>): Env =>
    limitedEnv('maintenance', {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      DATABASE_URL: proxy.through(databaseUrl),
      'databaseLimits.lockWaitSeconds': '1',
      'databaseLimits.silenceMs': '1000',
      ...settings,
    });
  const connect = async (settings: Record<string, string> = {}): Promise<Database> => {
    const env = envOf(settings);
    const dataSource = await awaitDatabase(env, SCHEMA, new Log(env));
    open.push(dataSource);
    return new Database(dataSource, env);
  };
  const insert = (slot: number) => (manager: EntityManager) =>
    manager.insert(WriteProofEntity, { slot, writtenAt: new Date() });
  const slots = async (database: Database): Promise<number[]> =>
    (await database.read((manager) => manager.find(WriteProofEntity))).map(({ slot }) => slot);
  const connectionId = async (manager: EntityManager): Promise<number> => {
    const [row] = (await manager.query('SELECT CONNECTION_ID() AS id')) as { id: unknown }[];
    return Number(row?.id);
  };

  it('gets new connections when it becomes read-only, and rejected writes are stored through those', async () => {
    const database = await connect({ DATABASE_POOL_SIZE: '3' });
    const makeReadOnly = async (manager: EntityManager): Promise<number> => {
      await sleep(50);
      const id = await connectionId(manager);
      await manager.query('SET SESSION TRANSACTION READ ONLY');
      return id;
    };
    const old = await Promise.all([1, 2, 3].map(() => database.write(makeReadOnly)));
    expect(new Set(old).size).toBe(3);

    await database.write(insert(1));
    const now = await Promise.all([1, 2, 3].map(() => database.write(connectionId)));
    expect(now.filter((id) => old.includes(id))).toEqual([]);
    expect(await slots(database)).toEqual([1]);
  });

  it('is not sent statements above its packet limit: one ordinary failure, and the connection is kept', async () => {
    const database = await connect({ DATABASE_POOL_SIZE: '1' });
    const id = await database.write(connectionId);
    const [{ bytes } = {}] = (await open[0]!.query('SELECT @@max_allowed_packet AS bytes')) as {
      bytes: unknown;
    }[];
    let attempts = 0;
    const failure = await failureOf(
      database.write((manager) => {
        attempts += 1;
        return manager.query('SELECT LENGTH(?)', ['x'.repeat(Number(bytes))]);
      }),
    );
    expect(failure).toMatchObject({ driverError: { code: 'ER_NET_PACKET_TOO_LARGE' } });
    expect([attempts, isDatabaseFailure(failure)]).toEqual([1, false]);
    const fits = await database.write((manager) =>
      manager.query<{ length: unknown }[]>('SELECT LENGTH(?) AS length', ['x'.repeat(Number(bytes) - 64)]),
    );
    expect(Number(fits[0]?.length)).toBe(Number(bytes) - 64);
    expect(await database.write(connectionId)).toBe(id);
  });

  it('causes a warning at startup when its packet limit is too small', async () => {
    await connect();
    const warned: unknown[] = [];
    const log = { warn: (...all: unknown[]) => warned.push(all) } as unknown as Log;
    const small = { options: open[0]!.options, query: async () => [{ bytes: 4_194_304 }] };
    await warnOfSmallPackets(small as unknown as DataSource, log);
    expect(warned).toEqual([
      [
        'max_allowed_packet is too small',
        {
          detail:
            'max_allowed_packet of the database server (4194304 bytes) must be above 8388608: larger values cannot be stored.',
        },
      ],
    ]);
    await warnOfSmallPackets(open[0]!, log);
    expect(warned).toHaveLength(1);
  });

  it('may close a connection before the commit: the transaction is retried and stored once', async () => {
    const [database, other] = [await connect(), await connect()];
    let attempts = 0;
    await database.write(async (manager) => {
      attempts += 1;
      await insert(1)(manager);
      if (attempts === 1) {
        const id = await connectionId(manager);
        await open[1]?.query(`KILL ${id}`);
      }
      await insert(2)(manager);
    });
    expect(attempts).toBe(2);
    expect(await slots(other)).toEqual([1, 2]);
  });

  it('may close a connection during a read: the read is retried once', async () => {
    const database = await connect();
    let attempts = 0;
    const cut = (): void => {
      proxy.set('down');
      proxy.set('open');
    };
    const read = (cuts: number): Promise<number> => {
      attempts = 0;
      return database.read(async (manager) => {
        attempts += 1;
        if (attempts <= cuts) {
          setTimeout(cut, 100);
        }
        await manager.query('SELECT SLEEP(0.5)');
        return attempts;
      });
    };
    expect(await read(1)).toBe(2);
    expect(await failureOf(read(3))).toBeInstanceOf(DatabaseUnavailableError);
    expect(attempts).toBe(2);
  });

  it('that does not answer a commit leaves the outcome unknown, and nothing is retried', async () => {
    const database = await connect();
    let attempts = 0;
    const error = await failureOf(
      database.write(async (manager) => {
        attempts += 1;
        await insert(1)(manager);
        proxy.set('silent');
      }),
    );
    expect(error).toBeInstanceOf(CommitUnansweredError);
    expect(attempts).toBe(1);
  });

  it('may be silent for databaseLimits.silenceMs during a statement, and longer while idle', async () => {
    const database = await connect({
      'databaseLimits.transactionRetries': '0',
      'databaseLimits.silenceMs': '2000',
    });
    const id = await database.write(connectionId);
    await sleep(2_500);
    expect(await database.write(connectionId)).toBe(id);
    const began = performance.now();
    const error = await failureOf(database.write((manager) => manager.query('SELECT SLEEP(60)')));
    expect(error).toBeInstanceOf(DatabaseUnavailableError);
    expect(performance.now() - began).toBeLessThan(IN_TIME_MS);
  });

  it('too slow for the deadline stores nothing later', async () => {
    const database = await connect({ 'databaseLimits.deadlineMs': '500' });
    let end: unknown;
    const write = database.write(async (manager) => {
      await insert(1)(manager);
      await sleep(900);
      end = 'reached';
    });
    expect(await failureOf(write)).toBeInstanceOf(DatabaseDeadlineError);
    await expect.poll(() => end).toBe('reached');
    await sleep(200);
    expect(await slots(database)).toEqual([]);
  });

  it('that is unavailable is reported, and used again afterwards', async () => {
    const database = await connect();
    proxy.set('down');
    expect(await failureOf(database.write(insert(1)))).toBeInstanceOf(DatabaseUnavailableError);
    expect(await failureOf(slots(database))).toBeInstanceOf(DatabaseUnavailableError);
    proxy.set('open');
    await database.write(insert(1));
    expect(await slots(database)).toEqual([1]);
  });

  it('with too many callers rejects those beyond the queue, and those that wait too long', async () => {
    const database = await connect({
      DATABASE_POOL_SIZE: '1',
      'databaseLimits.poolQueue': '2',
      'databaseLimits.poolWaitMs': '300',
      'databaseLimits.connectTimeoutMs': '100',
    });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let holding: Promise<unknown> = released;
    await new Promise<void>((held) => {
      holding = database.write(async (manager) => {
        await insert(1)(manager);
        held();
        await released;
      });
    });
    let ended = 0;
    const waiting = [2, 3].map((slot) => failureOf(database.write(insert(slot))).finally(() => (ended += 1)));
    expect(await failureOf(database.write(insert(4)))).toBeInstanceOf(DatabaseOverloadedError);
    expect(ended).toBe(0);
    const refused = await Promise.all(waiting);
    release();
    expect(refused).toEqual([expect.any(DatabaseOverloadedError), expect.any(DatabaseOverloadedError)]);
    await holding;
    await database.write(insert(5));
    expect(await slots(database)).toEqual([1, 5]);
  });

  it('rejects no caller while connections are free', async () => {
    const database = await connect({ DATABASE_POOL_SIZE: '5', 'databaseLimits.poolQueue': '1' });
    const all = (): Promise<unknown> => Promise.all([1, 2, 3, 4, 5].map(() => database.write(connectionId)));
    await all();
    await all();
  });

  it('is waited for at startup while unavailable, but not if it denies access', async () => {
    proxy.set('down');
    const connecting = connect({ 'databaseLimits.startWaitSeconds': '120' });
    await sleep(1_500);
    proxy.set('open');
    await (await connecting).write(insert(1));

    const nameless = connect({
      DATABASE_URL: 'mysql://svc:password@db.invalid/svc',
      'databaseLimits.startWaitSeconds': '3',
    });
    const asked = performance.now();
    expect(String(await failureOf(nameless))).toContain('ENOTFOUND');
    expect(performance.now() - asked).toBeGreaterThan(1_000);

    const refused = new URL(proxy.through(databaseUrl));
    refused.username = 'no-such-user';
    const began = performance.now();
    const error = await failureOf(connect({ DATABASE_URL: refused.href }));
    expect(String(error)).toContain('ER_ACCESS_DENIED');
    expect(performance.now() - began).toBeLessThan(IN_TIME_MS);
  });
});
