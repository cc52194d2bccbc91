import type { OpenAPIObject } from '@nestjs/swagger';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/openapi.js';
import { dereferenced } from '../../support/openapi-contract.js';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, serviceAccount, systemPath } from '../../support/factories.js';
import { appPath } from '../../support/runtime/publish.js';

const RUNS = '/rtm/api/runtime/workflow-run';
const INSTANCES = '/rtm/api/runtime/process-instance';
const INCIDENTS = '/rtm/api/runtime/process-incident';
const SCANS = '/api/platform/discover/scans';
const CHANGES = '/api/platform/discover/changes';
const OF_APPLICATION = ['app-version', 'builds', 'audit'].map((list) => `${appPath('none')}/${list}`);
const LARGEST = 9_007_199_254_740_991;

type Bodies = Record<
  string,
  Record<string, { requestBody?: { content: Record<string, { schema: object }> } }>
>;

describe('the OpenAPI document and the service', () => {
  let app: TestApp;
  let document: OpenAPIObject;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });

  beforeAll(async () => {
    app = await TestApp.shared();
    document = dereferenced(buildOpenApi(app.nest));
  });
  afterAll(() => app.close());

  /** Returns whether the document allows a body of the operation. */
  const allows = (operationId: string, body: unknown): boolean => {
    const operations = Object.values(document.paths as unknown as Bodies).flatMap(Object.values);
    const operation = operations.find((one) => (one as { operationId?: string }).operationId === operationId);
    const schema = operation?.requestBody?.content['application/json']?.schema;
    return ajv.validate({ ...schema, components: document.components }, body);
  };

  describe('timestamps (RFC 3339)', () => {
    it.each([
      '2026-01-31T10:20:30Z',
      '2026-01-31T10:20:30.1234567890123Z',
      '2026-01-31t10:20:30.123456z',
      '2026-01-31T10:20:30.5+05:30',
      '2016-12-31T23:59:60Z',
      '0000-01-01T00:00:00Z',
      '0000-01-01T00:00:00+23:59',
      '9999-12-31T23:59:59.999-23:59',
    ])('accepts %s', async (moment) => {
      const value = encodeURIComponent(moment);
      const lists = [RUNS, INSTANCES, INCIDENTS, SCANS, CHANGES, ...OF_APPLICATION];
      for (const path of lists.map((list) => `${list}?from=${value}&to=${value}`)) {
        expect([path, (await app.request('GET', path)).status]).toEqual([path, 200]);
      }
    });

    it.each(['2026-01-31T10:20:61Z', '2026-01-31T10:20:30.Z', '2026-01-31'])('refuses %s', async (moment) => {
      const { status, body } = await app.request('GET', `${RUNS}?from=${moment}`);
      expect([status, body['details']]).toEqual([400, 'from: must be an ISO 8601 date and time']);
    });
  });

  describe('whole numbers', () => {
    it.each([
      [`${SCANS}?before=${LARGEST}`, 200, undefined],
      [`${SCANS}?before=${LARGEST + 1}`, 400, `before: must be at most ${LARGEST}`],
      [`${SCANS}?before=${'9'.repeat(400)}`, 400, undefined],
      [`${SCANS}?before=-1`, 400, 'before: must be at least 1'],
      [`${SCANS}/${LARGEST}`, 404, undefined],
      [`${SCANS}/${LARGEST + 1}`, 400, `scanId: must be at most ${LARGEST}`],
    ])('GET %s is %d', async (path, status, details) => {
      const answer = await app.request('GET', path);
      expect(answer.status).toBe(status);
      if (details !== undefined) {
        expect(answer.body['details']).toBe(details);
      }
    });
  });

  it('declares every UUID cursor as version 7, and rejects others', async () => {
    const parameters = Object.entries(document.paths).flatMap(([path, { get }]) =>
      (get?.parameters ?? []).map((parameter) => ({
        path,
        ...(parameter as { name: string; schema: { pattern?: string } }),
      })),
    );
    const cursors = parameters.filter(
      ({ name, schema: { pattern } }) => name === 'before' && pattern?.startsWith('^[0-9A-Fa-f]{8}-'),
    );
    expect(cursors.map(({ path }) => path)).toEqual(expect.arrayContaining([RUNS, INSTANCES, INCIDENTS]));
    const [v4, v7] = [randomUUID(), '01920F3E-7D6B-7C3A-9A54-3F2F6C1D9B40'];
    for (const { schema } of cursors) {
      const pattern = new RegExp(schema.pattern ?? '');
      expect([pattern.test(v4), pattern.test(v7)]).toEqual([false, true]);
    }
    const statuses = [v4, v7].map(
      async (before) => (await app.request('GET', `${RUNS}?before=${before}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([400, 200]);
  });

  describe('bodies', () => {
    it.each<[string, unknown, number]>([
      ['no configuration', { type: 'NO_AUTH' }, 201],
      [
        'a configuration that NO_AUTH ignores',
        { type: 'NO_AUTH', configuration: { clientId: 7, x: [] } },
        201,
      ],
      ['a configuration that is not an object', { type: 'NO_AUTH', configuration: 'none' }, 201],
      ['an account', serviceAccount(), 201],
      ['an account without configuration', { type: 'SERVICE_ACCOUNT' }, 400],
      ['an account whose configuration is null', { type: 'SERVICE_ACCOUNT', configuration: null }, 400],
      [
        'an account without any secret',
        {
          type: 'SERVICE_ACCOUNT',
          configuration: { clientId: 'a', identityProviderUrl: 'https://sso.example.com/token' },
        },
        400,
      ],
      ['a key', { type: 'API_KEY', configuration: { apiKey: 'k' } }, 201],
      ['a key without configuration', { type: 'API_KEY' }, 400],
      ['credentials of another type', { ...serviceAccount(), type: 'API_KEY' }, 400],
      ['no type', {}, 400],
      ['an unknown type', { type: 'BASIC' }, 400],
      ['an unknown member', { type: 'NO_AUTH', user: 'x' }, 400],
    ])('of an authorization: %s', async (_what, authorization, status) => {
      const body = createSystemBody({ payload: { authorization } });
      expect((await app.request('PATCH', createPath(randomUUID()), { body })).status).toBe(status);
      expect(allows('createSystem', body)).toBe(status === 201);
    });

    it('with an unknown member are rejected by both', async () => {
      const operations = Object.values(document.paths as unknown as Bodies).flatMap(Object.values);
      const bodies = operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
      const text = JSON.stringify(bodies);
      expect(bodies.length).toBeGreaterThan(10);
      for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
        expect([name, document.components?.schemas?.[name]]).toEqual([
          name,
          expect.objectContaining({ additionalProperties: false }),
        ]);
      }
      const body = { ...createSystemBody(), owner: 'me' };
      expect(allows('createSystem', body)).toBe(false);
      expect((await app.request('PATCH', createPath(), { body })).status).toBe(400);
    });

    it('of an update may be missing', async () => {
      const appId = randomUUID();
      const created = await app.request('PATCH', createPath(appId), { body: createSystemBody() });
      const changed = await app.request('PATCH', systemPath(String(created.body['resourceId']), appId));
      expect([changed.status, changed.body['name']]).toEqual([200, created.body['name']]);
    });

    it('of a commit may have null for no message', () => {
      expect(
        [{}, { message: null }, { message: 'x' }, { message: '' }].map((body) =>
          allows('commitVersion', body),
        ),
      ).toEqual([true, true, true, false]);
    });
  });
});
