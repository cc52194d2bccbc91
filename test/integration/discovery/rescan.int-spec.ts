import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_VERSION } from '../../../src/common/service-version.js';
import type { DiscoveryResult } from '../../../src/modules/discovery/scan/scan.types.js';
import { TestApp } from '../../support/app.js';

const PATH = '/api/platform/discover';
let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.close());

describe(`GET ${PATH}`, () => {
  it('tells of this service itself', async () => {
    const { status, body, headers } = await app.request<DiscoveryResult>('GET', PATH);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body.services['svcPlatform']).toMatchObject({ status: 'healthy', version: SERVICE_VERSION });
  });
});
