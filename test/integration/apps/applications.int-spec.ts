import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppVersionEntity } from '../../../src/apps/app-version.entity.js';
import type { ApplicationPageDto, VersionPageDto } from '../../../src/apps/reading/application.dto.js';
import { TestApp, type TestResponse } from '../../support/app.js';
import { createPath, createSystemBody, uniqueName } from '../../support/factories.js';
import { appPath, publish } from '../../support/runtime/publish.js';

const PATH = '/appmanager/api/resource/app';
/** Application ids with the prefix of a permission rule, in the order in which databases sort them. */
const ids = ['listed_c', 'listed_A', 'listed_a', 'listed_a-b'].map((name) => uniqueName(name)).toSorted();
const [first = '', second = ''] = ids;
/** Creation times of the versions of the first application. The three in the middle are equal. */
const TIMES: Readonly<Record<string, string>> = {
  'v.1': '2026-01-31T10:00:00.000Z',
  a: '2026-01-31T11:00:00.001Z',
  B: '2026-01-31T11:00:00.001Z',
  'a-1': '2026-01-31T11:00:00.001Z',
  V2: '2026-01-31T12:00:00.000Z',
};
const NEWEST_FIRST = ['V2', 'a-1', 'a', 'B', 'v.1'];

let app: TestApp;
let own: string;

const list = (query = '', token = own): Promise<TestResponse<ApplicationPageDto>> =>
  app.request<ApplicationPageDto>('GET', `${PATH}${query}`, { token });
const idsOf = ({ body }: TestResponse<ApplicationPageDto>): string[] =>
  body.applications.map(({ applicationId }) => applicationId);
const versions = (query = '', appId = first): Promise<TestResponse<VersionPageDto>> =>
  app.request<VersionPageDto>('GET', `${appPath(appId)}/app-version${query}`);
const versionsOf = ({ body }: TestResponse<VersionPageDto>): string[] =>
  body.versions.map(({ applicationVersionId }) => applicationVersionId);

beforeAll(async () => {
  app = await TestApp.start({
    JOBS_CONCURRENCY: '0',
    PERMISSION_RULES: JSON.stringify({
      'integration-management': [{ claim: 'scope', has: 'integration:manage' }],
      'application-delivery': [
        { claim: 'scope', has: 'application:deliver' },
        { claim: 'roles', has: 'lister', apps: ['listed_*'] },
        { claim: 'roles', hasAt: 'deliverer' },
      ],
    }),
  });
  const roles = ids.map((id) => `deliverer@${id}`);
  own = await app.tokenWith({ scope: 'openid', sub: uniqueName('caller'), roles });
  const stored = app.dataSource.getRepository(AppVersionEntity);
  for (const [versionId, time] of Object.entries(TIMES)) {
    if (versionId === 'a') {
      await publish(app, { appId: first, versionId });
    } else {
      await app.request('PATCH', createPath(first, versionId), { body: createSystemBody() });
    }
    await stored.update({ appId: first, appVersionId: versionId }, { createdAt: new Date(time) });
  }
  for (const appId of ids.slice(1)) {
    await app.request('PATCH', createPath(appId, 'v1'), { body: createSystemBody() });
  }
});
afterAll(() => app.close());

describe('GET /resource/app', () => {
  it('lists applications by id, with the number of their versions', async () => {
    const page = await list();
    expect(page.status).toBe(200);
    expect(idsOf(page)).toEqual(ids);
    expect(page.body.next).toBeNull();
    expect(page.body.applications.slice(0, 2)).toEqual([
      {
        applicationId: first,
        versions: 5,
        createdDate: TIMES['v.1'],
        committedDate: expect.stringMatching(/^20\d\d-.*\.\d{3}Z$/),
      },
      { applicationId: second, versions: 1, createdDate: expect.any(String), committedDate: null },
    ]);
  });

  it('returns every application across pages', async () => {
    const pages = [await list('?limit=2')];
    pages.push(await list(`?limit=2&after=${pages[0]?.body.next}`));
    expect(pages.map(idsOf)).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect(pages.map(({ body }) => body.next)).toEqual([second, null]);
  });

  it('lists only applications for which the caller has the permission', async () => {
    const claims = { scope: 'openid', sub: uniqueName('caller') };
    const some = await app.tokenWith({ ...claims, roles: [`deliverer@${second}`, 'deliverer@no-such'] });
    expect(idsOf(await list('', some))).toEqual([second]);
    const named = idsOf(await list('?limit=100', await app.tokenWith({ ...claims, roles: ['lister'] })));
    expect(named).toEqual(expect.arrayContaining(ids));
    expect(named.filter((id) => !id.startsWith('listed_'))).toEqual([]);
    const all: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const query: string = `?limit=100${next === '' ? '' : `&after=${next}`}`;
      const page = await list(query, await app.tokenWith({}));
      all.push(...idsOf(page));
      next = page.body.next;
    }
    expect(all).toEqual(expect.arrayContaining(ids));
    expect(all).toEqual([...new Set(all)].toSorted());
  });

  it.each([
    ['limit=0', 'limit: must be at least 1'],
    ['limit=101', 'limit: must be at most 100'],
    ['after=a%20b', 'after: must be 1 to 64'],
    ['before=x', 'before: is not a known query parameter'],
  ])('answers 400 to %s', async (query, details) => {
    const { status, body } = await app.request('GET', `${PATH}?${query}`);
    expect(status).toBe(400);
    expect(body['details']).toContain(details);
  });
});

describe('GET /resource/app/{appId}/app-version', () => {
  it('lists versions, newest first', async () => {
    const page = await versions();
    expect(page.status).toBe(200);
    expect(versionsOf(page)).toEqual(NEWEST_FIRST);
    expect(page.body.next).toBeNull();
    expect(page.body.versions[0]).toEqual({
      applicationId: first,
      applicationVersionId: 'V2',
      status: 'DRAFT',
      createdDate: TIMES['V2'],
      committedDate: null,
    });
    expect(page.body.versions[2]).toMatchObject({
      status: 'COMMITTED',
      committedDate: expect.stringMatching(/Z$/),
    });
    expect(versionsOf(await versions('', second))).toEqual(['v1']);
  });

  it.each([1, 2, 3, 4, 5])('returns every version across pages of %s', async (limit) => {
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page = await versions(`?limit=${limit}${next === '' ? '' : `&before=${next}`}`);
      expect(page.body.versions.length).toBeLessThanOrEqual(limit);
      seen.push(...versionsOf(page));
      next = page.body.next;
    }
    expect(seen).toEqual(NEWEST_FIRST);
  });

  it('filters by status and creation time', async () => {
    expect(versionsOf(await versions('?status=COMMITTED'))).toEqual(['a']);
    expect(versionsOf(await versions('?status=DRAFT'))).toEqual(['V2', 'a-1', 'B', 'v.1']);
    const behind = (await versions('?limit=3')).body.next;
    expect(versionsOf(await versions(`?status=DRAFT&before=${behind}`))).toEqual(['B', 'v.1']);
    expect(versionsOf(await versions(`?from=${TIMES['a']}`))).toEqual(NEWEST_FIRST.slice(0, 4));
    expect(versionsOf(await versions(`?to=${TIMES['a']}`))).toEqual(['v.1']);
    expect(versionsOf(await versions(`?from=${TIMES['a']}&to=${TIMES['V2']}&limit=2`))).toEqual(['a-1', 'a']);
  });

  it('accepts a cursor for any position', async () => {
    expect(versionsOf(await versions('?before=0-a'))).toEqual([]);
    expect(versionsOf(await versions('?before=99999999999999-..'))).toEqual(NEWEST_FIRST);
    expect(versionsOf(await versions(`?before=${Date.parse(TIMES['a'] ?? '')}-C`))).toEqual(['B', 'v.1']);
  });

  it('is empty for an unknown application', async () => {
    expect((await versions('', uniqueName('app'))).body).toEqual({ versions: [], next: null });
  });

  it.each([
    ['limit=101', 'limit: must be at most 100'],
    ['status=draft', 'status: must be DRAFT or COMMITTED'],
    ['from=yesterday', 'from: must be an ISO 8601 date and time'],
    ['before=1-a%20b', 'before: must be the value of next from a page'],
    ['before=v1', 'before: must be the value of next from a page'],
    ['before=123456789012345-a', 'before: must be the value of next from a page'],
    ['after=a', 'after: is not a known query parameter'],
  ])('answers 400 to %s', async (query, details) => {
    const { status, body } = await app.request('GET', `${appPath(first)}/app-version?${query}`);
    expect(status).toBe(400);
    expect(body['details']).toContain(details);
  });
});
