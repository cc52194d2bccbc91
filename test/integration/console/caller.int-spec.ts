import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';

const PATH = '/rtm/api/me';
const RULES = {
  'process-read': [{ claim: 'roles', has: 'reader' }],
  'application-delivery': [{ claim: 'roles', has: 'author', apps: ['loans', 'cards-*'] }],
  'act-processes': [{ claim: 'roles', has: 'actor' }],
};

describe('the caller', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({
      JOBS_CONCURRENCY: '0',
      PERMISSION_RULES: JSON.stringify(RULES),
      PROCESS_UI_ACTION_PERMISSION: 'act-processes',
    });
  });
  afterAll(() => app.close());

  it('gets their identity and their permissions, with the applications of each', async () => {
    const token = await app.tokenWith({ sub: 'f3a1', roles: ['reader', 'author'] });
    const { status, body } = await app.request('GET', PATH, { token });
    expect(status).toBe(200);
    expect(body).toEqual({
      subject: 'f3a1',
      user: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
      permissions: [
        { permission: 'application-delivery', applications: ['loans', 'cards-*'] },
        { permission: 'process-read', applications: null },
      ],
      asked: {
        discovery: null,
        uiAction: 'act-processes',
        toolCall: null,
      },
    });
  });

  it('needs no permission, but a token', async () => {
    const token = await app.tokenWith({ roles: [] });
    expect((await app.request('GET', PATH, { token })).body['permissions']).toEqual([]);
    expect((await app.request('GET', PATH, { token: null })).status).toBe(401);
  });
});
