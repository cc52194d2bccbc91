import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { planOf } from '../../support/databases/query-plans.js';

const INDEX = 'ix_process_search_values_term';

describe('the statement of a search by data', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ JOBS_WORKERS: 'false' });
  });
  afterAll(() => app.close());

  const planned = (query: string): Promise<string[]> =>
    planOf(app, 'process_search_values', () =>
      app.request('GET', `/rtm/api/runtime/process-instance?${query}`),
    );

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

  it('finds further values by the same index', async () => {
    const plan = await planned('data=client.id:4711&data=open:true');
    expect(plan.join('\n').split(INDEX).length - 1).toBeGreaterThanOrEqual(2);
    expect(plan.join('\n')).not.toMatch(/table scan|SCAN |"type":"(ALL|index)"/i);
  });
});
