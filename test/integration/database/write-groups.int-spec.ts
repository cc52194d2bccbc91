import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database } from '../../../src/store/database.js';
import { isDuplicate } from '../../../src/store/connection/driver-errors.js';
import type { SharedTransaction } from '../../../src/store/groups/shared-transaction.js';
import { Table } from '../../../src/store/tables/table.js';
import { WriteProofEntity } from '../../../src/store/write-proof.entity.js';
import { ProcessEventEntity } from '../../../src/runtime/storage/process-event.entity.js';
import { TestApp } from '../../support/app.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { publish, type Published } from '../../support/runtime/publish.js';
import { execute, start } from '../../support/runtime/runtime-client.js';
import { eventRows } from '../../support/runtime/runtime-rows.js';

const PROOFS = new Table(WriteProofEntity);
const AT = new Date('2026-01-01T00:00:00Z');
const GROUP_MAX = 8;
const WORK_MS = 500;
const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');

let app: TestApp;
let database: Database;
let dataSource: DataSource;
let transactions: ReturnType<typeof vi.spyOn>;

beforeAll(async () => {
  app = await TestApp.start({
    JOBS_CONCURRENCY: '0',
    'databaseLimits.groupMax': String(GROUP_MAX),
    'databaseLimits.groupWorkMs': String(WORK_MS),
  });
  database = app.nest.get(Database);
  dataSource = app.dataSource;
});
beforeEach(() => {
  transactions = vi.spyOn(dataSource, 'transaction');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await dataSource.manager.clear(WriteProofEntity);
});
afterAll(() => app.close());

type Work = (transaction: SharedTransaction) => Promise<unknown>;
const insert = (slot: number, transaction: SharedTransaction): Promise<void> =>
  PROOFS.insert(transaction, [{ slot, writtenAt: AT }]);
const inserting =
  (slot: number): Work =>
  (transaction) =>
    insert(slot, transaction);
const slots = async (): Promise<number[]> =>
  (await dataSource.manager.find(WriteProofEntity, { order: { slot: 'ASC' } })).map(({ slot }) => slot);
/** Runs all works concurrently and returns their outcomes. */
const together = (...works: Work[]): Promise<PromiseSettledResult<unknown>[]> =>
  Promise.allSettled(works.map((work) => database.writeTogether(work)));
const statesOf = (outcomes: readonly PromiseSettledResult<unknown>[]): string[] =>
  outcomes.map(({ status }) => status);

describe('group commit', () => {
  it('merges the statements of concurrent writes into one transaction', async () => {
    const sent: string[] = [];
    const create = dataSource.createQueryRunner.bind(dataSource);
    vi.spyOn(dataSource, 'createQueryRunner').mockImplementationOnce((mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<never>;
      vi.spyOn(runner, 'query').mockImplementation((...args: unknown[]) => {
        sent.push(String(args[0]));
        return query(...args);
      });
      return runner;
    });
    const works = Array.from({ length: GROUP_MAX }, (_, slot) => async (transaction: SharedTransaction) => {
      await insert(slot, transaction);
      return slot;
    });
    const outcomes = await together(...works);
    expect(outcomes.map((outcome) => 'value' in outcome && outcome.value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await slots()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(transactions).toHaveBeenCalledTimes(1);
    expect(sent.filter((sql) => sql.startsWith('INSERT'))).toHaveLength(1);
  });

  it('does not share the transaction of a single write', async () => {
    await database.writeTogether(async (transaction) => {
      expect(transaction.isInGroup).toBe(false);
      await insert(1, transaction);
    });
    expect(await slots()).toEqual([1]);
  });

  it('limits a group to databaseLimits.groupMax', async () => {
    const outcomes = await together(...Array.from({ length: GROUP_MAX + 1 }, (_, slot) => inserting(slot)));
    expect(new Set(statesOf(outcomes))).toEqual(new Set(['fulfilled']));
    expect(transactions).toHaveBeenCalledTimes(2);
  });

  it('rejects only the writer that fails before it writes', async () => {
    const refusal = new Error('refused');
    const outcomes = await together(inserting(1), () => Promise.reject(refusal), inserting(3));
    expect(statesOf(outcomes)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: refusal });
    expect(await slots()).toEqual([1, 3]);
    expect(transactions).toHaveBeenCalledTimes(1);
  });

  it('rejects only the writer that fails after it has written', async () => {
    const failure = new Error('failed');
    const outcomes = await together(
      inserting(1),
      async (transaction) => {
        await insert(2, transaction);
        throw failure;
      },
      inserting(3),
    );
    expect(statesOf(outcomes)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: failure });
    expect(await slots()).toEqual([1, 3]);
  });

  it('rejects only the writer whose statement fails', async () => {
    const outcomes = await together(inserting(1), inserting(2), inserting(2), inserting(3));
    expect(await slots()).toEqual([1, 2, 3]);
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    expect(failed.map(isDuplicate)).toEqual([true]);
  });

  it.skipIf(isEmbedded)(
    'sends no more statements after the server has rolled back the transaction',
    async () => {
      let fail = (): void => undefined;
      const failed = new Promise<void>((resolve) => {
        fail = resolve;
      });
      const outcomes = await together(
        async (transaction) => {
          await insert(1, transaction);
          if (transaction.isInGroup) {
            // Simulates a deadlock, which rolls back the transaction of the victim.
            await transaction.query('ROLLBACK');
          }
          await transaction.query('SELECT nothing FROM nowhere').finally(fail);
        },
        async (transaction) => {
          await failed;
          await insert(2, transaction);
        },
      );
      expect(statesOf(outcomes)).toEqual(['rejected', 'fulfilled']);
      expect(await slots()).toEqual([2]);
    },
  );

  it('runs writers that hold the same key one after the other', async () => {
    const order: string[] = [];
    const working =
      (name: string, slot: number): Work =>
      async (transaction) => {
        const hasWaited = await transaction.holdInGroup('thing');
        order.push(`${name} begins ${String(hasWaited)}`);
        await insert(slot, transaction);
        order.push(`${name} ends`);
      };
    await together(working('first', 1), working('second', 2), inserting(3));
    expect(order).toEqual(['first begins false', 'first ends', 'second begins true', 'second ends']);
    expect(transactions).toHaveBeenCalledTimes(1);
  });

  it('lets a member leave the group', async () => {
    const attempts: boolean[] = [];
    const leaving: Work = async (transaction) => {
      attempts.push(transaction.isInGroup);
      transaction.requireOwnTransaction();
      await insert(2, transaction);
    };
    expect(statesOf(await together(inserting(1), leaving))).toEqual(['fulfilled', 'fulfilled']);
    expect(attempts).toEqual([true, false]);
    expect(await slots()).toEqual([1, 2]);
  });

  it('moves members to the next group once others have computed for databaseLimits.groupWorkMs', async () => {
    const runs: number[] = [];
    const working =
      (slot: number): Work =>
      async (transaction) => {
        runs.push(slot);
        transaction.computeInGroup(() => {
          for (const begun = performance.now(); performance.now() - begun <= WORK_MS;) {
            continue;
          }
        });
        await insert(slot, transaction);
      };
    expect(statesOf(await together(working(1), working(2), working(3)))).toEqual(Array(3).fill('fulfilled'));
    expect(runs).toEqual([1, 2, 3, 2, 3, 3]);
    expect(await slots()).toEqual([1, 2, 3]);
  });

  it('does not mix writers with different names', async () => {
    const named =
      (name: string, slot: number): Work =>
      async (transaction) => {
        transaction.requireShardGroup(name);
        await insert(slot, transaction);
      };
    const outcomes = await together(named('one', 1), named('other', 2), named('one', 3), named('other', 4));
    expect(statesOf(outcomes)).toEqual(Array(4).fill('fulfilled'));
    expect(transactions).toHaveBeenCalledTimes(2);
  });

  it('runs writers separately when the shared transaction cannot begin', async () => {
    transactions.mockRejectedValueOnce(new Error('no transaction'));
    expect(statesOf(await together(inserting(1), inserting(2)))).toEqual(['fulfilled', 'fulfilled']);
    expect(await slots()).toEqual([1, 2]);
  });
});

describe('concurrent starts and UI actions', () => {
  const COUNT = 24;
  let published: Published;

  beforeAll(async () => {
    published = await publish(app, { bpmn: taskProcess('grouped', userTask('a'), userTask('b')) });
  });

  it('are answered and stored independently, in fewer transactions', async () => {
    const all = Array.from({ length: COUNT }, (_, number) => ({ number }));
    const starts = await Promise.all(all.map((data) => start(app, published, 'grouped', data)));
    expect(starts.map(({ status }) => status)).toEqual(Array(COUNT).fill(200));
    expect(transactions.mock.calls.length).toBeLessThan(COUNT);

    transactions.mockClear();
    const actions = await Promise.all(
      starts.map(({ body }, number) =>
        // Every sixth action is for an unknown token.
        execute(app, body.uuid, number % 6 === 5 ? body.uuid : (body.tokens[0]?.uuid ?? ''), ui('a'), {
          answer: number,
        }),
      ),
    );
    expect(actions.map(({ status }) => status)).toEqual(
      all.map(({ number }) => (number % 6 === 5 ? 404 : 200)),
    );
    expect(transactions.mock.calls.length).toBeLessThan(COUNT);

    for (const [number, { body }] of starts.entries()) {
      const action = actions[number];
      const isDone = action?.status === 200;
      const { body: instance } = await app.request<{ tokens: { currentNodeName: string }[] }>(
        'GET',
        `/rtm/api/runtime/process-instance/${body.uuid}`,
      );
      expect(instance.tokens.map(({ currentNodeName }) => currentNodeName)).toEqual([isDone ? 'b' : 'a']);
      const events = await dataSource.manager.findBy(ProcessEventEntity, {
        instanceId: body.instanceMetadata.processInstanceId,
      });
      expect(new Set(events.map(({ requestId }) => requestId))).toEqual(
        new Set(
          [starts[number], ...(isDone ? [action] : [])].map((answer) => answer?.headers.get('x-request-id')),
        ),
      );
    }
  });

  it('on one instance run one after the other', async () => {
    const { body } = await start(app, published, 'grouped', {});
    const token = body.tokens[0]?.uuid ?? '';
    const answers = await Promise.all(
      ['a', 'b', 'a', 'b'].map((task, number) => execute(app, body.uuid, token, ui(task), { number })),
    );
    const events = await eventRows(app, body.instanceMetadata.processInstanceId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });

  it('with one Idempotency-Key are one start, even among other concurrent starts', async () => {
    const calls = Array.from({ length: 16 }, (_, number) =>
      start(
        app,
        published,
        'grouped',
        { number: number % 2 === 0 ? 0 : number },
        number % 2 === 0 ? { key: 'one-start' } : {},
      ),
    );
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.uuid)).size).toBe(1 + 8);
  });
});
