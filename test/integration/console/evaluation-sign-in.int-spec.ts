import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/app.setup.js';
import { Env } from '../../../src/platform/config/env.js';
import { EvaluationIssuer } from '../../../src/evaluation/evaluation-issuer.js';
import { EvaluationSignInModule } from '../../../src/evaluation/sign-in/evaluation-sign-in.module.js';
import { TEST_SECRETS_KEYS } from '../../support/app.js';
import { httpGet, type RawAnswer } from './http-get.js';

const PATH = '/console/evaluation/sign-in';

describe('signing in at the console of evaluation mode', () => {
  let folder: string;
  let app: NestExpressApplication;
  let url: string;
  let host: string;
  let own: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-console-'));
    const env = Env.parse('evaluation', {
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      DATA_DIR: folder,
      SECRETS_KEYS: TEST_SECRETS_KEYS,
      JOBS_CONCURRENCY: '0',
    });
    const issuer = await EvaluationIssuer.create(env.get('PERMISSION_RULES'));
    app = await createApp({
      env,
      issuer: { inject: [], useFactory: () => issuer.trusted },
      modules: [EvaluationSignInModule.of(issuer)],
    });
    await app.listen(0, '127.0.0.1');
    host = `127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    url = `http://${host}`;
    own = { host, origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  const signIn = (
    headers: Record<string, string>,
    order: object = { subject: 'ada.example' },
  ): Promise<RawAnswer> => httpGet(url, PATH, headers, JSON.stringify(order));
  const json = ({ body }: RawAnswer): Record<string, unknown> =>
    JSON.parse(body.toString()) as Record<string, unknown>;

  it('issues a token for a person with chosen permissions', async () => {
    const known = json(await httpGet(url, PATH, { host }))['permissions'];
    expect(known).toEqual(expect.arrayContaining(['process-read', 'integration-management']));
    const answer = json(await signIn(own, { subject: 'ada.example', permissions: ['process-read'] }));
    expect(answer['expiresIn']).toBe(900);
    const me = await httpGet(url, '/rtm/api/me', {
      authorization: `Bearer ${String(answer['accessToken'])}`,
    });
    expect(json(me)).toMatchObject({
      subject: 'ada.example',
      permissions: [{ permission: 'process-read', applications: null }],
    });
    expect(json(await httpGet(url, '/console/settings'))).toMatchObject({ evaluation: true });
  });

  it.each<[string, () => Record<string, string>]>([
    ['a page of another host name', () => ({ ...own, host: 'evil.example', origin: 'http://evil.example' })],
    [
      'a page of another site',
      () => ({ ...own, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }),
    ],
    [
      'a page of another port',
      () => ({ ...own, origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }),
    ],
    ['a page with an opaque origin', () => ({ ...own, origin: 'null' })],
    ['a request without an origin', () => ({ host, 'content-type': 'application/json' })],
  ])('refuses %s', async (_what, headers) => {
    const answer = await signIn(headers());
    expect([answer.status, json(answer)['message']]).toEqual([
      403,
      'Only the console of this service may sign in here.',
    ]);
  });

  it('accepts only JSON, which a form of another site cannot send', async () => {
    expect((await signIn({ ...own, 'content-type': 'text/plain' })).status).toBe(400);
  });

  it('rejects a malformed permission', async () => {
    const answer = await signIn(own, { subject: 'ada.example', permissions: ['one,two'] });
    expect(answer.status).toBe(400);
    expect(json(answer)['details']).toContain('no comma');
  });
});
