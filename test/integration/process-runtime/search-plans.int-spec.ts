import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSearchTerm, termHash } from '../../../src/modules/process-runtime/model/search-terms.js';
import { TestApp } from '../../support/app.js';
import { planOf, statementsOf, type Sent } from '../../support/databases/query-plans.js';

const INDEX = 'ix_process_search_values_term';

const NEWEST = 1_000_000;
const BATCH = 500;

const ALONE = /covering index|using index(?! condition)/i;
/** Of a plan in rows or as one text, what reads the index. */
const readings = (plan: readonly string[]): string[] =>
  plan.flatMap((row) => row.split('\\n')).filter((line) => line.includes(INDEX));

const hashOf = (term: string): string => termHash(readSearchTerm(term)!);
let instances = 0;

/** Values of instances of which nothing else is there. */
async function insertValues(
  app: TestApp,
  term: string,
  { amount, apart }: { amount: number; apart: number },
): Promise<void> {
  const rows = Array.from({ length: amount }, (_, index) => {
    instances += 1;
    return [instances, 0, 0, `uuid-${String(NEWEST - index * apart).padStart(8, '0')}`, hashOf(term)];
  });
  for (let at = 0; at < amount; at += BATCH) {
    const some = rows.slice(at, at + BATCH);
    await app.dataSource.query(
      `INSERT INTO process_search_values (instance_id, member, shard, uuid, term) VALUES ${some.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
      some.flat(),
    );
  }
}

describe('the statement of a search by data', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ JOBS_WORKERS: 'false' });
    await insertValues(app, 'client.id:4711', { amount: 1, apart: 1 });
    await insertValues(app, 'open:true', { amount: 1_500, apart: 1 });
    // Fewer in all, but more than are looked at of each.
    await insertValues(app, 'kind:old', { amount: 1_200, apart: 10 });
  });
  afterAll(() => app.close());

  const search = (query: string) => app.request('GET', `/rtm/api/runtime/process-instance?${query}`);
  const planned = (query: string, text = 'process_search_values'): Promise<string[]> =>
    planOf(app, text, () => search(query));
  const sentFor = async (query: string): Promise<Sent[]> =>
    (await statementsOf(app, () => search(query))).filter(({ sql }) => sql.includes('process_search_values'));

  it.each([
    'data=client.id:4711',
    'applicationId=some&data=client.id:4711',
    'data=client.id:4711&from=2026-01-01T00:00:00Z',
  ])('reads the index alone, in its order: %s', async (query) => {
    const plan = await planned(query);
    expect(plan).toHaveLength(1);
    expect(plan[0]).toContain(INDEX);
    expect(plan[0]).toMatch(/covering index|using index/i);
    expect(plan[0]).not.toMatch(/TEMP B-TREE|filesort|sort:|temporary/i);
  });

  it('finds further values by the index alone', async () => {
    const plan = await planned('data=client.id:4711&data=open:true', 'EXISTS');
    expect(readings(plan).length).toBeGreaterThanOrEqual(2);
    expect(readings(plan).filter((line) => !ALONE.test(line))).toEqual([]);
    expect(plan.join('\n')).not.toMatch(/table scan|SCAN |"type":"(ALL|index)"/i);
  });

  it('looks for the rare one of several values by their index, in its order', async () => {
    const plan = await planned('data=client.id:4711&data=open:true', 'UNION ALL');
    expect(readings(plan).length).toBeGreaterThanOrEqual(2);
    expect(readings(plan).filter((line) => !ALONE.test(line))).toEqual([]);
    expect(plan.join('\n')).not.toMatch(/TEMP B-TREE|filesort|sort:/i);
  });

  it.each([
    ['open:true', 'client.id:4711', 'client.id:4711'],
    ['open:true', 'kind:old', 'kind:old'],
    ['client.id:4711', 'kind:old', 'client.id:4711'],
  ])(
    'begins with the rare one of %s and %s, in whichever order they are asked for',
    async (one, other, rare) => {
      for (const [first, second] of [
        [one, other],
        [other, one],
      ]) {
        const sent = await sentFor(`data=${first}&data=${second}`);
        expect(sent).toHaveLength(2);
        expect(sent[1]?.values[0]).toBe(hashOf(rare));
      }
    },
  );

  it('ends where nothing has one of the values', async () => {
    expect(await sentFor('data=open:true&data=client.id:none')).toHaveLength(1);
    expect(await sentFor('data=client.id:none')).toHaveLength(1);
  });
});
