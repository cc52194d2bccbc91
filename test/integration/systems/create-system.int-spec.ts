import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { createPath, createSystemBody, serviceAccount } from '../../support/factories.js';

describe('PATCH /resource/app/{appId}/app-version/{versionId}/rt/system/integration/api/systems', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.close());

  it('creates a system, answers 201 and keeps the secret to itself', async () => {
    const body = createSystemBody({ payload: { authorization: serviceAccount() } });

    const response = await app.request('PATCH', createPath(), { body });

    expect(response.status).toBe(201);
    expect(response.text).not.toContain('battery');
    expect(response.body).toMatchObject({ svcUuid: null, type: 'MCP', tools: [], description: '' });
    expect(response.body['authorization']).toEqual({
      type: 'SERVICE_ACCOUNT',
      configuration: { clientId: 'client-1', identityProviderUrl: 'https://sso.example.com/token' },
    });
  });
});
