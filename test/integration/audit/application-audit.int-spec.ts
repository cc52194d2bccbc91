import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApplicationAuditPageDto, AuditPageDto } from '../../../src/audit/reading/audit.dto.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { planOf } from '../../support/databases/query-plans.js';
import { createPath, createSystemBody, systemPath, uniqueName } from '../../support/factories.js';
import { appPath } from '../../support/runtime/publish.js';
import { eventually } from '../../support/runtime/runtime-client.js';

const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');
const appId = uniqueName('app');
/** Events recorded in `beforeAll`, newest first: action, outcome, version and subject. */
const STORY = [
  'system.delete ok one user-1',
  'system.create denied one intruder',
  'system.create error two john',
  'system.create ok two john',
  'system.create ok one user-1',
];

let app: TestApp;
let resourceId: string;

const list = (
  query: Record<string, string> = {},
  of = appId,
): Promise<TestResponse<ApplicationAuditPageDto>> =>
  app.request<ApplicationAuditPageDto>(
    'GET',
    `${appPath(of)}/audit?${new URLSearchParams(query).toString()}`,
  );
const summaries = ({ body }: TestResponse<ApplicationAuditPageDto>): string[] =>
  body.events.map(
    ({ action, outcome, applicationVersionId, subject }) =>
      `${action} ${outcome} ${applicationVersionId} ${subject}`,
  );
/** Returns the events of STORY at these indexes. */
const lines = (...numbers: number[]): (string | undefined)[] => numbers.map((number) => STORY[number]);
const ofVersion = async (versionId: string): Promise<AuditPageDto['events']> =>
  (await app.request<AuditPageDto>('GET', `${createPath(appId, versionId)}/audit`)).body.events;

beforeAll(async () => {
  app = await TestApp.start({ JOBS_CONCURRENCY: '0' });
  const john = await app.tokenWith({ sub: 'john' });
  const intruder = await app.tokenWith({ sub: 'intruder', scope: 'openid' });
  const body = createSystemBody();
  const steps: (() => Promise<TestResponse>)[] = [
    () => app.request('PATCH', createPath(appId, 'one'), { body }),
    () => app.request('PATCH', createPath(appId, 'two'), { body, token: john }),
    () => app.request('PATCH', createPath(appId, 'two'), { body, token: john }),
    () => app.request('PATCH', createPath(appId, 'one'), { body, token: intruder }),
    () => app.request('DELETE', systemPath(resourceId, appId, 'one')),
  ];
  for (const [index, step] of steps.entries()) {
    const answer = await step();
    if (index === 0) {
      resourceId = String(answer.body['resourceId']);
    }
    // The service records a refusal asynchronously, possibly after it has answered.
    await eventually(
      () => list(),
      (page) => page.body.events.length === index + 1,
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
afterAll(() => app.close());

describe('GET /resource/app/{appId}/audit', () => {
  it('lists events over all versions, newest first', async () => {
    const page = await list();
    expect(page.status).toBe(200);
    expect(summaries(page)).toEqual(STORY);
    expect(page.body.next).toBeNull();
    const { applicationVersionId, ...event } = page.body.events[0]!;
    expect(applicationVersionId).toBe('one');
    expect(event).toEqual((await ofVersion('one'))[0]);
    const others = await ofVersion('two');
    expect(others.map(({ id }) => id)).toEqual(page.body.events.slice(2, 4).map(({ id }) => id));
  });

  it.each([
    [{ action: 'system.create' }, [1, 2, 3, 4]],
    [{ action: 'system.update' }, []],
    [{ outcome: 'ok' }, [0, 3, 4]],
    [{ outcome: 'denied' }, [1]],
    [{ actor: 'john' }, [2, 3]],
    [{ actor: 'joh' }, []],
    [{ actor: 'John' }, []],
    [{ actor: 'jane.doe' }, []],
    [{ applicationVersionId: 'two' }, [2, 3]],
    [{ applicationVersionId: 'Two' }, []],
    [{ action: 'system.create', outcome: 'ok', actor: 'john' }, [3]],
    [{ action: 'system.create', applicationVersionId: 'one' }, [1, 4]],
  ] as [Record<string, string>, number[]][])('filters by %j', async (query, numbers) => {
    expect(summaries(await list(query))).toEqual(lines(...numbers));
  });

  it('filters by system and by time', async () => {
    expect(summaries(await list({ systemResourceId: resourceId }))).toEqual(lines(0, 4));
    const { events } = (await list()).body;
    const from = String(events[3]?.timestamp);
    const to = String(events[1]?.timestamp);
    expect(summaries(await list({ from }))).toEqual(lines(0, 1, 2, 3));
    expect(summaries(await list({ to }))).toEqual(lines(2, 3, 4));
    expect(summaries(await list({ from, to }))).toEqual(lines(2, 3));
    expect(summaries(await list({ from, to, outcome: 'error' }))).toEqual(lines(2));
    expect(summaries(await list({ from: to, to: from }))).toEqual([]);
  });

  it('returns every event across pages', async () => {
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const before: Record<string, string> = next === '' ? {} : { before: next };
      const page = await list({ action: 'system.create', limit: '2', ...before });
      expect(page.body.events.length).toBeLessThanOrEqual(2);
      seen.push(...summaries(page));
      next = page.body.next;
    }
    expect(seen).toEqual(lines(1, 2, 3, 4));
  });

  it('shows nothing of another application', async () => {
    expect((await list({}, uniqueName('app'))).body).toEqual({ events: [], next: null });
    expect((await list({}, appId.toUpperCase())).body.events).toEqual([]);
  });

  it.each([
    ['limit=101', 'limit: must be at most 100'],
    ['before=x', 'before: must be the value of next from a page'],
    ['action=system', 'action: must be one of system.create, '],
    ['outcome=OK', 'outcome: must be one of ok, denied, error, timeout'],
    ['actor=', 'actor: must'],
    [`actor=${'x'.repeat(256)}`, 'actor: must have 1 to 255 characters'],
    ['from=yesterday', 'from: must be an ISO 8601 date and time'],
    ['to=', 'to: must be an ISO 8601 date and time'],
    ['applicationVersionId=%2F', 'applicationVersionId: must be 1 to 64'],
    ['outcome=ok&outcome=denied', 'outcome: must be given once'],
    ['subject=john', 'subject: is not a known query parameter'],
  ])('answers 400 to %s', async (query, details) => {
    const { status, body } = await app.request('GET', `${appPath(appId)}/audit?${query}`);
    expect(status).toBe(400);
    expect(body['details']).toContain(details);
  });

  // Database servers choose an index by row counts. SQLite decides by the statement alone, so its plan is stable.
  it.runIf(isEmbedded).each([
    ['ix_audit_events_app', {}],
    ['ix_audit_events_action', { action: 'tools.sync' }],
    ['ix_audit_events_outcome', { outcome: 'timeout' }],
    ['ix_audit_events_actor', { actor: 'john' }],
    ['ix_audit_events_version', { applicationVersionId: 'one' }],
  ] as [string, Record<string, string>][])('filters and sorts by the index %s', async (index, query) => {
    const listing = () => list({ ...query, from: '2026-01-01T00:00:00Z' });
    const plan = (await planOf(app, 'FROM "audit_events"', listing)).join();
    expect(plan).toContain(`INDEX ${index} `);
    expect(plan).not.toContain('TEMP B-TREE');
  });
});
