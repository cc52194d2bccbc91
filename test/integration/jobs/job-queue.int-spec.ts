import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/model/job-queue.types.js';
import { InvalidJobError, LeaseLostError } from '../../../src/jobs/queue/jobs.errors.js';
import { JobReplica } from './job-replica.js';

describe('JobQueueService', () => {
  let replica: JobReplica;

  beforeAll(async () => {
    replica = await JobReplica.start(() => [], { JOBS_CONCURRENCY: '0' });
  });
  beforeEach(() => replica.clear());
  afterAll(() => replica.stop());

  const ids = async (): Promise<number[]> => (await replica.stored()).map(({ id }) => id);

  it('stores jobs as they are, to the millisecond and with long payloads', async () => {
    const payload = { text: '€'.repeat(40_000), nested: [{ number: 1.5, none: null }], z: 1, a: true };
    const availableAt = new Date('2031-02-03T04:05:06.789Z');
    const [id] = await replica.add({
      kind: 'timer',
      availableAt,
      payload,
      instanceId: 260,
      tokenId: 8,
      dedupeKey: 'timer:260:8',
    });
    const [row] = await replica.stored();
    expect(row).toMatchObject({
      id,
      kind: 'timer',
      lane: 'short',
      shard: 4,
      attempts: 0,
      failures: 0,
      lease: null,
      instanceId: 260,
      tokenId: 8,
      dedupeKey: 'timer:260:8',
      availableAt,
      dueAt: availableAt,
      payload,
    });
  });

  it('stores a key once, and again when the job is gone', async () => {
    const [first] = await replica.add(
      { kind: 'timer', dedupeKey: 'k', payload: { n: 1 } },
      { kind: 'other' },
    );
    const [, added] = await replica.add({ kind: 'timer', dedupeKey: 'k', payload: { n: 2 } }, { kind: 'x' });
    expect(await ids()).toEqual([first, (first ?? 0) + 1, added]);
    expect((await replica.stored())[0]?.payload).toEqual({ n: 1 });
    await replica.database.write((manager) => replica.queue.cancelKeys(manager, ['k']));
    const [again] = await replica.add({ kind: 'timer', dedupeKey: 'k' });
    expect(await ids()).toContain(again);
  });

  it('stores a key once when several transactions add it concurrently', async () => {
    await Promise.all(Array.from({ length: 10 }, () => replica.add({ kind: 'timer', dedupeKey: 'race' })));
    expect(await replica.stored()).toHaveLength(1);
  });

  it('fails when the id of a job is taken', async () => {
    const [id] = await replica.add({ kind: 'timer' });
    const job = { id: id ?? 0, kind: 'timer', availableAt: new Date(), payload: {} };
    await expect(replica.database.write((manager) => replica.queue.add(manager, [job]))).rejects.toThrow();
  });

  it('adds many jobs, or none', async () => {
    await replica.add(...Array.from({ length: 1_201 }, () => ({ kind: 'timer' })));
    await replica.database.write((manager) => replica.queue.add(manager, []));
    expect(await replica.stored()).toHaveLength(1_201);
  });

  it('adds nothing when the transaction fails', async () => {
    const id = await replica.ids.next('job');
    const fails = replica.database.write(async (manager) => {
      await replica.queue.add(manager, [{ id, kind: 'timer', availableAt: new Date(), payload: {} }]);
      throw new Error('rolled back');
    });
    await expect(fails).rejects.toThrow('rolled back');
    expect(await replica.stored()).toEqual([]);
  });

  it.each([
    { kind: '' },
    { kind: 'k'.repeat(33) },
    { kind: 'timer', dedupeKey: '' },
    { kind: 'timer', dedupeKey: 'k'.repeat(129) },
    { kind: 'timer', payload: { text: 'x'.repeat(4_194_304) } },
  ])('refuses values that exceed their limits (case %#)', async (job) => {
    await expect(replica.add(job)).rejects.toThrow(InvalidJobError);
  });

  it('cancels by token, kind, instance and key, and nothing else', async () => {
    const [a, , c, d, e, f] = await replica.add(
      { kind: 'timer', instanceId: 1, tokenId: 1 },
      { kind: 'agent', instanceId: 1, tokenId: 1 },
      { kind: 'timer', instanceId: 1, tokenId: 2 },
      { kind: 'timer', instanceId: 2, tokenId: 1 },
      { kind: 'timer', instanceId: 2 },
      { kind: 'timer', dedupeKey: 'k' },
    );
    const { database, queue } = replica;
    await database.write((manager) => queue.cancelOfToken(manager, 1, [1, 7], ['agent']));
    expect(await ids()).toEqual([a, c, d, e, f]);
    await database.write((manager) => queue.cancelOfToken(manager, 1, []));
    await database.write((manager) => queue.cancelOfToken(manager, 1, [1, 2], []));
    expect(await ids()).toEqual([a, c, d, e, f]);
    await database.write((manager) => queue.cancelOfToken(manager, 1, [1, 2]));
    expect(await ids()).toEqual([d, e, f]);
    await database.write((manager) => queue.cancelKeys(manager, ['k', 'other']));
    await database.write((manager) => queue.cancelKeys(manager, []));
    expect(await ids()).toEqual([d, e]);
    await database.write((manager) => queue.cancel(manager, 2, [d ?? 0, e ?? 0]));
    expect(await ids()).toEqual([]);
  });

  it('refuses to complete a job that is not held, and rolls back the transaction', async () => {
    const [id] = await replica.add({ kind: 'timer' });
    const job: Job = {
      id: id ?? 0,
      shard: 0,
      kind: 'timer',
      payload: {},
      instanceId: null,
      tokenId: null,
      attempts: 1,
      failures: 0,
      interruptions: 0,
      lease: 'somebody-else',
      availableAt: new Date(),
    };
    const other = await replica.ids.next('job');
    const fails = replica.database.write(async (manager) => {
      await replica.queue.add(manager, [{ id: other, kind: 'x', availableAt: new Date(), payload: {} }]);
      await replica.queue.complete(manager, job);
    });
    await expect(fails).rejects.toThrow(LeaseLostError);
    expect(await ids()).toEqual([id]);
  });
});
