import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Log } from '../../../src/platform/observability/logging/log.js';
import { SystemsService } from '../../../src/systems/registration/systems.service.js';
import { TestApp } from '../../support/app.js';
import { AUDIENCE, signingKey } from '../../support/issuer.js';
import { detailsPath, listPath } from '../../support/factories.js';

describe('the request log', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.shared();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(() => app.close());

  const fingerprint = (subject: string): string =>
    createHash('sha256').update(`${app.issuer.url}\n${subject}`).digest('hex').slice(0, 16);

  /** Sends a request and returns the fields of its log entry. */
  const lineOf = async (path: string, token: string | null): Promise<Record<string, unknown>> => {
    const info = vi.spyOn(app.nest.get(Log), 'info');
    const id = randomUUID();
    await app.request('GET', path, { token, headers: { 'x-request-id': id } });
    const lines = () =>
      info.mock.calls.flatMap(([message, fields]) =>
        message === 'request' && fields?.['callerRequestId'] === id ? [fields] : [],
      );
    await expect.poll(lines).toHaveLength(1);
    return lines()[0] ?? {};
  };

  it.each([
    ['a read', { sub: 'canary-one' }, 200],
    ['a read without the permission', { sub: 'canary-two', scope: 'openid' }, 403],
  ])('distinguishes callers of %s without naming them', async (_, claims, status) => {
    const line = await lineOf(listPath(), await app.tokenWith(claims));
    expect(line).toMatchObject({ method: 'GET', status, caller: fingerprint(claims.sub) });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  it('has no caller for an unauthenticated request', async () => {
    const line = await lineOf(listPath(), null);
    expect(line).toMatchObject({ method: 'GET', status: 401 });
    expect(line).not.toHaveProperty('caller');
  });

  const past = Math.floor(Date.now() / 1_000) - 3_600;
  it.each<[reason: string, token: () => Promise<string> | string | null]>([
    ['missing', () => null],
    ['malformed', () => 'no-token'],
    ['expired', () => app.tokenWith({ iat: past, exp: past + 60 })],
    ['not_yet_valid', () => app.tokenWith({ nbf: past + 7_200 })],
    ['audience', () => app.tokenWith({ aud: `${AUDIENCE}-of-others` })],
    ['issuer', () => app.tokenWith({ iss: 'https://elsewhere.example' })],
    ['refused', () => app.tokenWith({ sub: undefined })],
    [
      'signature',
      async () => {
        const { kid } = app.issuer.keys.at(-1)!;
        return app.issuer.sign({}, { key: { ...(await signingKey('ES256')), kid } });
      },
    ],
  ])('names route, ids, address and reason of a 401: %s', async (reason, token) => {
    const id = randomUUID();
    const line = await lineOf(`${detailsPath(id, 'victim', 'v7')}?who=canary`, await token());
    expect(line).toMatchObject({
      method: 'GET',
      route: expect.stringMatching(/\/:appId\/app-version\/:versionId\/.*\/:systemResourceId\//) as string,
      appId: 'victim',
      versionId: 'v7',
      systemResourceId: id,
      address: expect.stringContaining('127.0.0.1') as string,
      status: 401,
      reason,
    });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  it('names the ids of a 403, but no malformed id', async () => {
    const token = await app.tokenWith({ scope: 'openid' });
    const line = await lineOf(detailsPath('jane.doe@canary.example', 'victim'), token);
    expect(line).toMatchObject({ status: 403, reason: 'PERMISSION_DENIED', systemResourceId: 'malformed' });
    expect(JSON.stringify(line)).not.toContain('canary');
    const unknown = await lineOf('/canary/of/nowhere', token);
    expect(unknown).toMatchObject({ status: 404, route: 'unmatched' });
    expect(JSON.stringify(unknown)).not.toContain('canary');
  });

  it('shows message and stack of an unexpected error with the request id, but no secrets', async () => {
    vi.spyOn(app.nest.get(SystemsService), 'list').mockImplementationOnce(() => {
      throw new TypeError('The cursor is gone: Bearer canary-token, ://user:canary-word@host');
    });
    const log = app.nest.get(Log);
    const write = vi.spyOn(log['destination'], 'write').mockReturnValue(true);
    const { level } = log['logger'];
    log['logger'].level = 'error';
    onTestFinished(() => {
      log['logger'].level = level;
    });
    const { status, body } = await app.request('GET', listPath());
    const line = write.mock.calls.map(([text]) => text).find((text) => text.includes('request failed'));
    const { details } = body as { details: string };
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toMatch(/cursor|canary/);
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      requestId: details.replace('request id ', ''),
      errorName: 'TypeError',
      errorMessage: 'The cursor is gone: Bearer [removed], ://[removed]@host',
      stack: expect.stringContaining('request-log.int-spec.ts') as string,
    });
    expect(line).not.toContain('canary');
  });
});
