import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { Env } from '../../../src/platform/config/env.js';
import { connectDatabase } from '../../../src/store/connection/connect.js';
import { Database } from '../../../src/store/database.js';
import { NestedDatabaseUseError } from '../../../src/store/database.errors.js';
import { IdBlocks, IdRangeExhaustedError } from '../../../src/store/ids/id-blocks.js';
import { IdBlockEntity } from '../../../src/store/ids/id-block.entity.js';
import { SCHEMA } from '../../../src/schema.js';

const BLOCK = 1_000;

describe('IdBlocks', () => {
  const dataSources: DataSource[] = [];
  let replicas: { database: Database; ids: IdBlocks }[];

  beforeAll(async () => {
    const env = Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: process.env['DATABASE_URL'] });
    for (let replica = 0; replica < 2; replica += 1) {
      dataSources.push(await connectDatabase(env, SCHEMA));
    }
  });
  beforeEach(async () => {
    await dataSources[0]!.manager.clear(IdBlockEntity);
    const env = Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: process.env['DATABASE_URL'] });
    replicas = dataSources.map((dataSource) => {
      const database = new Database(dataSource, env);
      return { database, ids: new IdBlocks(database) };
    });
  });
  afterAll(async () => {
    await dataSources[0]!.manager.clear(IdBlockEntity);
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
  });

  const stored = async (name: string): Promise<number | undefined> =>
    (await dataSources[0]!.manager.findOneBy(IdBlockEntity, { name }))?.next;

  it('allocates every id once, even to replicas that start concurrently', async () => {
    const call = (replica: number): Promise<number[]> =>
      Promise.all(Array.from({ length: 450 }, () => replicas[replica]!.ids.next('job', 3)));
    // Two SQLite connections of one process cannot wait for each other.
    const firsts = replicas[0]!.database.isEmbedded
      ? [...(await call(0)), ...(await call(1)), ...(await call(0))]
      : (await Promise.all([call(0), call(1), call(0)])).flat();
    const ids = firsts.flatMap((first) => [first, first + 1, first + 2]);
    expect(new Set(ids).size).toBe(4_050);
    expect(Math.min(...ids)).toBe(1);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });

  it('queries the database once for all callers that find no reserved ids', async () => {
    const ids = await Promise.all(
      Array.from({ length: BLOCK }, () => replicas[0]!.ids.next('process-token')),
    );
    expect(ids.toSorted((one, other) => one - other)).toEqual(Array.from({ length: BLOCK }, (_, i) => i + 1));
    expect(await stored('process-token')).toBe(BLOCK + 1);
  });

  it('counts each name separately, and allocates more ids at once than a block has', async () => {
    const [{ ids }] = replicas as [(typeof replicas)[0]];
    expect(await ids.next('a')).toBe(1);
    expect(await ids.next('b', 2_500)).toBe(1);
    expect(await ids.next('b')).toBe(2_501);
    expect(await ids.next('a')).toBe(2);
  });

  it('returns reserved ids synchronously, even inside a transaction', async () => {
    const [{ ids, database }] = replicas as [(typeof replicas)[0]];
    expect(() => ids.take('job')).toThrow(IdRangeExhaustedError);
    await ids.provide(['job', 'process-token'], 16);
    expect(await database.write(() => Promise.resolve([ids.take('job'), ids.take('job')]))).toEqual([1, 2]);
    expect(ids.take('process-token')).toBe(1);
    const rest = Array.from({ length: BLOCK - 2 }, () => ids.take('job'));
    expect(rest).toEqual(Array.from({ length: BLOCK - 2 }, (_, index) => index + 3));
    expect(() => ids.take('job')).toThrow(IdRangeExhaustedError);
    await ids.provide(['job'], 2_500);
    expect(Array.from({ length: 2_500 }, () => ids.take('job')).at(-1)).toBe(BLOCK + 2_500);
  });

  it('prefetches ids before the reserved ones run out, without blocking callers', async () => {
    const [{ ids, database }] = replicas as [(typeof replicas)[0]];
    await ids.provide(['job'], 1);
    Array.from({ length: BLOCK - 10 }, () => ids.take('job'));
    const write = database.writeAside.bind(database);
    let begin: (() => void) | undefined;
    const began = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      database.writeAside = async (work) => {
        begin?.();
        const result = await write(work);
        setImmediate(resolve);
        return result;
      };
    });
    await ids.provide(['job'], 10);
    await began;
    expect(ids.take('job')).toBe(BLOCK - 9);
    await ended;
    expect(await stored('job')).toBe(2 * BLOCK + 1);
    database.writeAside = () => Promise.reject(new Error('outage'));
    Array.from({ length: 600 }, () => ids.take('job'));
    await ids.provide(['job'], 400);
    await expect(ids.provide(['job'], 500)).rejects.toThrow('outage');
  });

  it('refuses asynchronous calls inside a transaction, even if ids are reserved', async () => {
    const [{ ids, database }] = replicas as [(typeof replicas)[0]];
    await ids.next('job');
    await expect(database.write(() => ids.next('job'))).rejects.toThrow(NestedDatabaseUseError);
    await expect(database.read(() => ids.next('job'))).rejects.toThrow(NestedDatabaseUseError);
    await expect(database.write(() => ids.provide(['job'], 1))).rejects.toThrow(NestedDatabaseUseError);
    expect(await database.write(() => Promise.resolve('continues'))).toBe('continues');
  });

  it('recovers after a database failure', async () => {
    const [{ ids, database }] = replicas as [(typeof replicas)[0]];
    const write = database.writeAside.bind(database);
    database.writeAside = () => Promise.reject(new Error('outage'));
    await expect(Promise.all([ids.next('job'), ids.next('job')])).rejects.toThrow('outage');
    database.writeAside = write;
    expect(await ids.next('job')).toBe(1);
  });

  it('stops before ids leave the range of safe integers', async () => {
    await dataSources[0]!.manager.insert(IdBlockEntity, { name: 'job', next: Number.MAX_SAFE_INTEGER - 500 });
    await expect(replicas[0]!.ids.next('job')).rejects.toThrow(/from 0 to/);
    expect(await stored('job')).toBe(Number.MAX_SAFE_INTEGER - 500);
  });
});
