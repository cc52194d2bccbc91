import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestApp } from '../../support/app.js';
import { toolPath } from '../../support/factories.js';
import { IN_TIME_MS } from '../../support/patience.js';
import { instancePath } from '../../support/runtime/runtime-client.js';
import { TcpProxy } from '../health/tcp-proxy.js';

const testUrl = String(process.env['DATABASE_URL']);

describe.skipIf(testUrl.startsWith('sqlite:'))('404 and 409 where another server may take over', () => {
  let app: TestApp;
  let proxy: TcpProxy;

  beforeAll(async () => {
    proxy = await TcpProxy.start(testUrl);
    app = await TestApp.start({
      DATABASE_URL: proxy.through(testUrl),
      DATABASE_WRITER_WAIT_SECONDS: '30',
      // Nothing but the requests of the test opens connections.
      DATABASE_WRITER_LOOK_MS: '60000',
    });
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
  });

  const statusOf = async (method: string, path: string, body?: object): Promise<number> => {
    const { status } = await app.request(method, path, body === undefined ? {} : { body });
    return status;
  };
  const switched = {
    systemId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
    resourceId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b11',
    toolId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b12',
  };

  it.each([
    ['looked up by the handler', 'GET', () => instancePath(randomUUID()), undefined],
    ['looked up before the body is read', 'PATCH', () => toolPath(switched), { enabled: true }],
    [
      'looked up for a bad request',
      'GET',
      () => `${instancePath(randomUUID())}/history?limit=none`,
      undefined,
    ],
  ])('are 503 until they are sure, for what is %s', async (_, method, path, body) => {
    await expect.poll(() => statusOf(method, path(), body), { timeout: IN_TIME_MS }).toBe(404);

    proxy.set('down');
    proxy.set('open');

    // The connection of before is lost, and the next one is younger than its request.
    expect(await statusOf(method, path(), body)).toBe(503);
    expect(await statusOf(method, path(), body)).toBe(503);
    expect(await statusOf(method, path(), body)).toBe(404);
  });
});
