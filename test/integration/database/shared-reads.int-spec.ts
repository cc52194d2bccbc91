import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.js';
import { DatabaseOverloadedError, NestedDatabaseUseError } from '../../../src/store/database.errors.js';
import type { SharedRead } from '../../../src/store/groups/read-queue.js';
import { Table } from '../../../src/store/tables/table.js';
import { WriteProofEntity } from '../../../src/store/write-proof.entity.js';
import { TestApp } from '../../support/app.js';

const PROOFS = new Table(WriteProofEntity);
const AT = new Date('2026-01-01T00:00:00Z');
const GROUP_MAX = 4;
const BAD = -1;

describe('concurrent shared reads', () => {
  let app: TestApp;
  let database: Database;
  /** Keys of each batch, in order. */
  let batches: number[][] = [];
  /** Called by each batch before it reads. */
  let before: (parts: readonly number[]) => Promise<void> | void;
  let read: SharedRead<number, { slot: number } | null>;

  beforeAll(async () => {
    app = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      'databaseLimits.groupMax': String(GROUP_MAX),
      'databaseLimits.groups': '1',
    });
    database = app.nest.get(Database);
    read = database.sharedRead(async (manager: EntityManager, slots: readonly number[]) => {
      batches.push([...slots]);
      await before(slots);
      const rows = await PROOFS.select('slot').find(manager, {});
      return slots.map((slot) => rows.find((row) => row.slot === slot) ?? null);
    }, String);
  });
  beforeEach(async () => {
    await app.dataSource.manager.clear(WriteProofEntity);
    batches = [];
    before = () => undefined;
  });
  afterAll(() => app.close());

  const store = (...slots: number[]): Promise<void> =>
    database.write((manager) =>
      PROOFS.insert(
        manager,
        slots.map((slot) => ({ slot, writtenAt: AT })),
      ),
    );
  const settled = (...slots: number[]) => Promise.allSettled(slots.map((slot) => read(slot)));

  it('are combined into one batch, and each gets its own result', async () => {
    await store(1, 2);
    expect(await Promise.all([read(1), read(3), read(2)])).toEqual([{ slot: 1 }, null, { slot: 2 }]);
    expect(batches).toEqual([[1, 3, 2]]);
  });

  it('have batches of their own when there are no others', async () => {
    await read(1);
    await read(2);
    expect(batches).toEqual([[1], [2]]);
  });

  it('read a key once for several callers, who get the same object', async () => {
    await store(1);
    const [one, other, another] = await Promise.all([read(1), read(1), read(2)]);
    expect(one).toEqual({ slot: 1 });
    expect(other).toBe(one);
    expect(another).toBeNull();
    expect(batches).toEqual([[1, 2]]);
  });

  it('have at most databaseLimits.groupMax keys in a batch', async () => {
    await settled(1, 2, 3, 4, 5);
    expect(batches).toEqual([[1, 2, 3, 4], [5]]);
  });

  it('wait for the next batch while one is running, and see everything stored before they began', async () => {
    let reach = (): void => undefined;
    let release = (): void => undefined;
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const going = new Promise<void>((resolve) => {
      release = resolve;
    });
    before = () => {
      before = () => undefined;
      reach();
      return going;
    };
    const first = read(1);
    await reached;
    const others = settled(2, 3);
    const storing = store(2);
    release();
    await storing;

    expect(await read(2)).toEqual({ slot: 2 });
    expect(await first).toBeNull();
    await others;
    expect(batches.slice(0, 2)).toEqual([[1], [2, 3]]);
  });

  it('are retried one by one when a batch fails, so that a failure affects only its own caller', async () => {
    await store(1, 2);
    const failure = new Error('failed');
    before = (slots) => {
      if (slots.includes(BAD)) {
        throw failure;
      }
    };
    expect(await settled(1, BAD, 2)).toEqual([
      { status: 'fulfilled', value: { slot: 1 } },
      { status: 'rejected', reason: failure },
      { status: 'fulfilled', value: { slot: 2 } },
    ]);
    expect(batches).toEqual([[1, BAD, 2], [1], [BAD], [2]]);
  });

  it('are not retried when the database fails', async () => {
    before = () => {
      throw new DatabaseOverloadedError();
    };
    const outcomes = await settled(1, 2);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(batches).toEqual([[1, 2]]);
  });

  it('are refused inside another database operation', async () => {
    await expect(database.read(async () => read(1))).rejects.toThrow(NestedDatabaseUseError);
    expect(batches).toEqual([]);
  });
});
