import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Database } from '../../../src/store/database.js';
import { DatabaseUnavailableError } from '../../../src/store/database.errors.js';
import { AuditEventEntity } from '../../../src/audit/storage/audit-event.entity.js';
import { TestApp } from '../../support/app.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  serviceAccount,
  systemPath,
  uniqueName,
  versionPath,
} from '../../support/factories.js';
import { neverAnswers } from '../../support/peers/pathologies.js';
import { startHttpPeer } from '../../support/peers/peer.js';
import { startModernPeer, type ModernPeer } from '../../support/peers/official.peers.js';
import { commitVersion, createdSystem, newPlace } from '../systems/rows.js';

interface AuditPage {
  events: (Record<string, unknown> & {
    id: string;
    action: string;
    details: Record<string, unknown> | null;
  })[];
  next: string | null;
  details?: string;
}

describe('audit events of each call', () => {
  let app: TestApp;
  let peer: ModernPeer;

  beforeAll(async () => {
    // Workers poll the database, and one test counts the queries of a request.
    app = await TestApp.shared({ JOBS_CONCURRENCY: '0' });
    peer = await startModernPeer([{ name: 'echo' }]);
  });
  afterAll(async () => {
    await app.close();
    await peer.close();
  });

  const read = ({ appId, versionId } = newPlace(), query = '') =>
    app.request<AuditPage>('GET', `${versionPath(appId, versionId)}/integration/api/systems/audit${query}`);

  it('shows every field of an event', async () => {
    const place = newPlace();
    const before = Date.now();
    const token = await app.tokenWith({ sub: 'user-9', act: { sub: 'support-1', given_name: 'Sue' } });
    const system = await createdSystem(app, place, { resourceName: 'Stock' }, token);

    const { status, body } = await read(place);

    expect(status).toBe(200);
    expect(body).toEqual({
      events: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
          action: 'system.create',
          outcome: 'ok',
          actor: {
            firstName: 'Jane',
            lastName: 'Doe',
            userName: 'jane.doe',
            impersonatingUser: { firstName: 'Sue', lastName: '', userName: 'support-1' },
          },
          subject: 'user-9',
          issuer: app.issuer.url,
          systemResourceId: system.resourceId,
          toolId: null,
          requestId: expect.stringMatching(/./),
          callerRequestId: null,
          details: { resourceName: 'Stock' },
        },
      ],
      next: null,
    });
    expect(Date.parse(String(body.events[0]?.['timestamp']))).toBeGreaterThanOrEqual(before);
  });

  it('records the origin of a connection test, but neither path, query nor credentials', async () => {
    const place = newPlace();
    const system = await createdSystem(app, place, { payload: { baseUrl: `${peer.url}?key=hush` } });
    const path = connectionTestPath(place.appId, place.versionId);
    await app.request('PATCH', path, {
      body: { baseUrl: `${peer.url}?key=hush`, authorization: { type: 'NO_AUTH' } },
    });
    const closed = await startHttpPeer(neverAnswers, '/hush');
    await closed.close();
    const authorization = serviceAccount({ identityProviderUrl: closed.url });
    await app.request('PATCH', path, { body: { baseUrl: peer.url, authorization } });

    const { body, text } = await read(place);

    const origin = new URL(peer.url).origin;
    const tests = body.events.filter(({ action }) => action === 'connection.test');
    expect(tests.map(({ outcome, details }) => [outcome, details])).toEqual([
      [
        'error',
        {
          origin,
          authorizationType: 'SERVICE_ACCOUNT',
          latencyMs: expect.any(Number),
          cause: 'token_refused',
          systems: [],
        },
      ],
      [
        'ok',
        {
          origin,
          authorizationType: 'NO_AUTH',
          latencyMs: expect.any(Number),
          systems: [system.resourceId],
        },
      ],
    ]);
    expect(text).not.toContain('hush');
    expect(text).not.toContain('battery');
  });

  it('names the fields that an update changed, without their values', async () => {
    const place = newPlace();
    const { resourceId } = await createdSystem(app, place, { payload: { authorization: serviceAccount() } });
    const path = systemPath(resourceId, place.appId, place.versionId);
    const rotated = { type: 'SERVICE_ACCOUNT', configuration: { clientSecret: 'hush' } };
    await app.request('PATCH', path, { body: { description: 'New', authorization: rotated } });

    const { body, text } = await read(place);

    expect(body.events[0]?.details?.['fields']).toEqual(['description', 'clientSecret']);
    expect(text).not.toContain('hush');
  });

  it('records a write to a committed version as an error', async () => {
    const place = newPlace();
    const { resourceId } = await createdSystem(app, place);
    await commitVersion(app, place);
    await app.request('DELETE', systemPath(resourceId, place.appId, place.versionId));
    const { body } = await read(place);
    expect(body.events[0]).toMatchObject({
      action: 'system.delete',
      outcome: 'error',
      systemResourceId: resourceId,
      details: { code: 'VERSION_COMMITTED' },
    });
  });

  it('sends no further queries when the database is unavailable', async () => {
    const place = newPlace();
    const database = app.nest.get(Database);
    const write = vi.spyOn(database, 'write').mockRejectedValueOnce(new DatabaseUnavailableError(undefined));
    const readAgain = vi.spyOn(database, 'read');
    const body = createSystemBody();
    const response = await app.request('PATCH', createPath(place.appId, place.versionId), { body });
    expect(response.status).toBe(503);
    expect([write, readAgain].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    write.mockRestore();
    readAgain.mockRestore();
    expect((await read(place)).body.events).toEqual([]);
  });

  it('does not record unauthenticated requests, malformed requests or reads', async () => {
    const place = newPlace();
    const path = createPath(place.appId, place.versionId);
    await app.request('PATCH', path, { token: null, body: createSystemBody() });
    await app.request('PATCH', path, { body: {} });
    await app.request('PATCH', path, { rawBody: '{' });
    await read(place);
    expect((await read(place)).body).toEqual({ events: [], next: null });
  });

  it('has no next page when the events fit exactly, and accepts page sizes of 1 and 100', async () => {
    const place = newPlace();
    await createdSystem(app, place);
    await createdSystem(app, place);
    const exact = await read(place, '?limit=2');
    expect([exact.body.events.length, exact.body.next]).toEqual([2, null]);
    const one = await read(place, '?limit=1');
    expect(one.body.next).toBe(one.body.events[0]?.id);
    expect((await read(place, '?limit=100')).body.events).toHaveLength(2);
  });

  it('returns fifty events a page by default', async () => {
    const place = newPlace();
    const resourceName = uniqueName();
    await createdSystem(app, place, { resourceName });
    const [event] = await app.dataSource.getRepository(AuditEventEntity).findBy({ appId: place.appId });
    const copies = Array.from({ length: 50 }, (_, index) => ({
      ...event!,
      id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    }));
    await app.dataSource.getRepository(AuditEventEntity).insert(copies as never[]);
    const { body } = await read(place);
    expect(body.events).toHaveLength(50);
    const rest = await read(place, `?before=${body.next}`);
    expect(rest.body.events.map(({ id }) => id)).toEqual([copies[0]?.id]);
    expect(rest.body.next).toBeNull();
  });

  it.each(['limit=-1', 'limit=1&limit=2', 'before=a&before=b', 'systemResourceId='])(
    'answers 400 that names the parameter of the query %s',
    async (query) => {
      const { status, body } = await read(newPlace(), `?${query}`);
      expect(status).toBe(400);
      expect(body.details).toMatch(new RegExp(`^${query.split('=')[0]}: `));
    },
  );

  it('answers 400 that names unknown query parameters', async () => {
    const { status, body } = await read(newPlace(), '?page=2&Limit=5&systemresourceid=x');
    expect([status, body.details]).toEqual([
      400,
      'page: is not a known query parameter. Known: before, limit, systemResourceId; ' +
        'Limit: is not a known query parameter. Did you mean "limit"?; ' +
        'systemresourceid: is not a known query parameter. Did you mean "systemResourceId"?',
    ]);
  });

  it('answers 400 that names a malformed versionId', async () => {
    const { status, body } = await read({ appId: 'a', versionId: '%20' });
    expect(status).toBe(400);
    expect(body.details).toContain('versionId: ');
  });
});
