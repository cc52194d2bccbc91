import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/common/logging/log.js';
import { TestApp } from '../../support/app.js';
import { listPath } from '../../support/factories.js';

describe('the request log', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => app.close());

  const fingerprint = (subject: string): string =>
    createHash('sha256').update(`${app.issuer.url}\n${subject}`).digest('hex').slice(0, 16);

  /** What is logged of one request. */
  const lineOf = async (path: string, token: string | null): Promise<Record<string, unknown>> => {
    const info = vi.spyOn(app.nest.get(Log), 'info');
    const { headers } = await app.request('GET', path, { token });
    const lines = () =>
      info.mock.calls.flatMap(([message, fields]) =>
        message === 'request' && fields?.['requestId'] === headers.get('x-request-id') ? [fields] : [],
      );
    await expect.poll(lines).toHaveLength(1);
    return lines()[0] ?? {};
  };

  it.each([
    ['a read', { sub: 'canary-one' }, 200],
    ['a read without the permission', { sub: 'canary-two', scope: 'openid' }, 403],
  ])('tells callers of %s apart without naming them', async (_, claims, status) => {
    const line = await lineOf(listPath(), await app.tokenWith(claims));
    expect(line).toMatchObject({ method: 'GET', status, caller: fingerprint(claims.sub) });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  it('has no caller where nobody was authenticated', async () => {
    const line = await lineOf(listPath(), null);
    expect(line).toMatchObject({ method: 'GET', status: 401 });
    expect(line).not.toHaveProperty('caller');
  });
});
