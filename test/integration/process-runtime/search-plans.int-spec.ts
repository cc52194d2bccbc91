import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSearchTerm, termHash } from '../../../src/runtime/model/search-terms.js';
import { TestApp } from '../../support/app.js';
import { planOf, statementsOf, type SentStatement } from '../../support/databases/query-plans.js';

const INDEX = 'ix_process_search_values_';
const READER = 'process-read';
const RULES = {
  [READER]: [
    { claim: 'sub', has: 'user-1' },
    { claim: 'roles', hasAt: READER },
    { claim: 'roles', has: 'of-team', apps: ['team-*'] },
  ],
};

const NEWEST = 1_000_000;
const BATCH = 500;

const INDEX_ONLY = /covering index|using index(?! condition)/i;
/** Operations on rows that were already read: the parts of a list. */
const OF_PARTS = /table scan on part|materialize|<derived/i;
const linesOf = (plan: readonly string[]): string[] =>
  plan.flatMap((row) => row.split('\\n')).filter((line) => !OF_PARTS.test(line));
/** Returns the lines of a plan, in rows or as one text, that read the index. */
const readings = (plan: readonly string[]): string[] => linesOf(plan).filter((line) => line.includes(INDEX));

const hashOf = (term: string): string => termHash(readSearchTerm(term)!);
let instances = 0;

/** Inserts values of instances that do not exist otherwise. */
async function insertValues(
  app: TestApp,
  term: string,
  { amount, apart, appId = 'plans' }: { amount: number; apart: number; appId?: string },
): Promise<void> {
  const rows = Array.from({ length: amount }, (_, index) => {
    instances += 1;
    const uuid = `uuid-${String(NEWEST - index * apart).padStart(8, '0')}-${appId}`;
    return [instances, 0, 0, uuid, appId, 'somebody', hashOf(term)];
  });
  for (let at = 0; at < amount; at += BATCH) {
    const some = rows.slice(at, at + BATCH);
    await app.dataSource.query(
      `INSERT INTO process_search_values (instance_id, member, shard, uuid, app_id, starter, term) VALUES ${some.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      some.flat(),
    );
  }
}

describe('the statement of a search by data', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ JOBS_CONCURRENCY: '0', PERMISSION_RULES: JSON.stringify(RULES) });
    await insertValues(app, 'client.id:4711', { amount: 1, apart: 1 });
    await insertValues(app, 'open:true', { amount: 1_500, apart: 1 });
    // Fewer than the previous ones, but more than the search examines per value.
    await insertValues(app, 'kind:old', { amount: 1_200, apart: 10 });
  });
  afterAll(() => app.close());

  const search = (query: string) => app.request('GET', `/rtm/api/runtime/process-instance?${query}`);
  const planned = (query: string, text = 'process_search_values'): Promise<string[]> =>
    planOf(app, text, () => search(query));
  const sentFor = async (query: string): Promise<SentStatement[]> =>
    (await statementsOf(app, () => search(query))).filter(({ sql }) => sql.includes('process_search_values'));

  it.each([
    'data=client.id:4711',
    'applicationId=some&data=client.id:4711',
    'data=client.id:4711&from=2026-01-01T00:00:00Z',
  ])('reads only the index, in its order: %s', async (query) => {
    const plan = await planned(query);
    expect(readings(plan)).toHaveLength(1);
    expect(readings(plan).filter((line) => !INDEX_ONLY.test(line))).toEqual([]);
    expect(linesOf(plan).join('\n')).not.toMatch(/TEMP B-TREE|filesort|sort:|temporary/i);
  });

  it('checks further values with the index only', async () => {
    const plan = await planned('data=client.id:4711&data=open:true', 'also.uuid');
    expect(readings(plan).length).toBeGreaterThanOrEqual(2);
    expect(readings(plan).filter((line) => !INDEX_ONLY.test(line))).toEqual([]);
    expect(linesOf(plan).join('\n')).not.toMatch(/table scan|SCAN |"type":"(ALL|index)"/i);
  });

  it('searches the rarest of several values with the index, in its order', async () => {
    const plan = await planned('data=client.id:4711&data=open:true', 'UNION ALL');
    expect(readings(plan).length).toBeGreaterThanOrEqual(2);
    expect(readings(plan).filter((line) => !INDEX_ONLY.test(line))).toEqual([]);
    expect(linesOf(plan).join('\n')).not.toMatch(/TEMP B-TREE|filesort|sort:/i);
  });

  it.each([
    ['open:true', 'client.id:4711', 'client.id:4711'],
    ['open:true', 'kind:old', 'kind:old'],
    ['client.id:4711', 'kind:old', 'client.id:4711'],
  ])('starts with the rarer one of %s and %s, in either order', async (one, other, rare) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ]) {
      const sent = await sentFor(`data=${first}&data=${second}`);
      expect(sent).toHaveLength(2);
      expect(sent[1]?.values[0]).toBe(hashOf(rare));
    }
  });

  it('stops if no instance has one of the values', async () => {
    expect(await sentFor('data=open:true&data=client.id:none')).toHaveLength(1);
    expect(await sentFor('data=client.id:none')).toHaveLength(1);
  });

  describe('of a caller who may not see everything', () => {
    const FOREIGN = 400;
    const MANY_APPS = Array.from({ length: 12 }, (_, index) => `${READER}@plans-${index}`);
    const callers: [string, string[], string?][] = [
      ['only what they started', []],
      ['one application', [`${READER}@plans-1`]],
      ['many applications', MANY_APPS],
      ['applications by a pattern', ['of-team', `${READER}@plans-1`]],
      ['one application, filtered by it', [`${READER}@plans-1`], '&applicationId=plans-1'],
      ['one application, filtered by another one', [`${READER}@plans-1`], '&applicationId=foreign'],
    ];
    beforeAll(async () => {
      await insertValues(app, 'held:foreign', { amount: FOREIGN, apart: 1, appId: 'foreign' });
      for (const appId of ['plans-1', 'team-1']) {
        await insertValues(app, 'own:yes', { amount: 3, apart: 1, appId });
        await insertValues(app, 'half:here', { amount: 3, apart: 1, appId });
        await insertValues(app, 'half:everywhere', { amount: 3, apart: 1, appId });
      }
      await insertValues(app, 'half:everywhere', { amount: FOREIGN, apart: 1, appId: 'foreign' });
      if (!isFile()) {
        await app.dataSource.query('ANALYZE TABLE process_search_values');
      }
    });
    const isFile = (): boolean => app.dataSource.options.type === 'better-sqlite3';
    const sentTo = async (roles: string[], query: string): Promise<SentStatement[]> => {
      const token = await app.tokenWith({ scope: 'openid', sub: 'searcher', roles });
      return (
        await statementsOf(app, () =>
          app.request('GET', `/rtm/api/runtime/process-instance?${query}`, { token }),
        )
      ).filter(({ sql }) => sql.includes('process_search_values'));
    };
    /** Returns the number of rows that a server reads for each statement, or on SQLite the query plans. */
    const readFor = async (sent: readonly SentStatement[]): Promise<unknown[]> => {
      const runner = app.dataSource.createQueryRunner();
      const rowsRead = async (): Promise<number> => {
        const rows = (await runner.query("SHOW SESSION STATUS LIKE 'Handler_read%'")) as { Value: string }[];
        return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
      };
      try {
        const counts: unknown[] = [];
        for (const { sql, values } of sent) {
          if (isFile()) {
            counts.push(...((await runner.query(`EXPLAIN QUERY PLAN ${sql}`, values)) as unknown[]));
          } else {
            const before = await rowsRead();
            await runner.query(sql, values);
            counts.push((await rowsRead()) - before);
          }
        }
        return counts;
      } finally {
        await runner.release();
      }
    };

    it.each(callers)(
      'reads as much for a value that only hidden instances have as for one that none has: %s',
      async (_, roles, more = '') => {
        const held = await sentTo(roles, `data=held:foreign${more}`);
        const unheld = await sentTo(roles, `data=held:nobody${more}`);
        expect(held.map(({ sql }) => sql)).toEqual(unheld.map(({ sql }) => sql));
        const read = await readFor(held);
        expect(read).toEqual(await readFor(unheld));
        if (isFile()) {
          const searches = (read as { detail: string }[]).filter(({ detail }) => detail.startsWith('SEARCH'));
          expect(searches.length).toBeGreaterThan(0);
          searches.forEach(({ detail }) => expect(detail).toMatch(/\(term=\? AND (app_id|starter)[=>]\?/));
        }
      },
    );

    it.each(callers.slice(1, 5))(
      'reads as much for further values whether or not hidden instances have them: %s',
      async (_, roles, more = '') => {
        const everywhere = await sentTo(roles, `data=own:yes&data=half:everywhere${more}`);
        const here = await sentTo(roles, `data=own:yes&data=half:here${more}`);
        expect(everywhere).toHaveLength(2);
        expect(await readFor(everywhere)).toEqual(await readFor(here));
      },
    );
  });
});
