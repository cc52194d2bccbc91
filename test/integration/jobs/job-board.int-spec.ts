import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JobRelay } from '../../../src/modules/jobs/broker/job-relay.js';
import { TestApp } from '../../support/app.js';
import { tryStart } from '../../support/discovery/local-server.js';
import { redisCli, startRedis, type ProbedServer } from '../../support/discovery/servers.js';
import { flows, node, processFile, timerEvent } from '../../support/runtime/process-files.js';
import { publish } from '../../support/runtime/publish.js';
import { eventually, start } from '../../support/runtime/runtime-client.js';

const BOARD = '/api/platform/jobs';
const CANARY = 'canary-of-a-person';
const WAITING = processFile(
  'waiting',
  `${node('startEvent', 'start')}${node('intermediateCatchEvent', 'wait', timerEvent('timeDuration', 'PT5M'))}${node('endEvent', 'end')}
   ${flows('start>wait wait>end')}`,
);
const { server, missing } = await tryStart(() => startRedis());
if (missing !== undefined) {
  console.log(`tests of the board of jobs: skipped, ${missing}`);
}

describe.skipIf(server === undefined)('GET /api/platform/jobs', () => {
  const redis = server as ProbedServer;
  let app: TestApp;
  let token: string;

  beforeAll(async () => {
    app = await TestApp.start({
      JOBS_WORKERS: 'false',
      REDIS_URL: `redis://default:admin@127.0.0.1:${redis.port}`,
      JOBS_BOARD_PERMISSION: 'job-board',
      PERMISSION_RULES: JSON.stringify({
        'application-delivery': [{ claim: 'scope', has: 'application:deliver' }],
        'job-board': [
          { claim: 'scope', has: 'board' },
          { claim: 'scope', has: 'part', apps: ['some'] },
        ],
      }),
    });
    token = await app.tokenWith({ scope: 'board' });
    await eventually(
      () => Promise.resolve(app.nest.get(JobRelay).isLeading),
      (isLeading) => isLeading,
    );
  });
  afterAll(async () => {
    await app.close();
    await redis.server.stop();
  });

  const get = (path: string) => app.request('GET', `${BOARD}${path}`, { token });
  /** As it is, since the answers of the board are in no document. */
  const raw = (path: string, method = 'GET', bearer = token) =>
    fetch(`${app.url}${BOARD}${path}`, { method, headers: { authorization: `Bearer ${bearer}` } });
  const json = async (path: string): Promise<{ text: string; body: Record<string, unknown> }> => {
    const response = await raw(path);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    return { text, body: JSON.parse(text) as Record<string, unknown> };
  };

  it('shows a page that may load its own files and nothing else, and these files', async () => {
    const page = await raw('');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self';");
    expect(page.headers.get('cache-control')).toBe('no-store');
    const html = await page.text();
    expect(html).toContain(`<base href="${BOARD}/" />`);
    expect(html).not.toMatch(
      /<style|style=|https?:|<script(?! id="__UI_CONFIG__" type="application\/json"| defer src="static)/,
    );
    const files = [...html.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      const response = await raw(`/${file}`);
      expect([file, response.status]).toEqual([file, 200]);
      await response.arrayBuffer();
    }
    expect((await raw('/queue/short')).headers.get('content-type')).toContain('text/html');
  });

  it('shows ids, kinds and times of jobs, and nothing of their data', async () => {
    const published = await publish(app, { bpmn: [WAITING] });
    const starter = await app.tokenWith({ sub: CANARY, name: CANARY });
    const answer = await start(app, published, 'waiting', { secret: CANARY }, { token: starter });
    expect(answer.status).toBe(200);
    await eventually(
      async () => (await json('/api/queues?activeQueue=short')).text,
      (text) => text.includes('"delayed":1'),
    );
    const { text, body } = await json('/api/queues?activeQueue=short&status=delayed');
    const [short, long] = body['queues'] as {
      name: string;
      readOnlyMode: boolean;
      jobs: Record<string, unknown>[];
    }[];
    expect([short?.name, long?.name, short?.readOnlyMode, long?.readOnlyMode]).toEqual([
      'short',
      'long',
      true,
      true,
    ]);
    const [job] = short?.jobs ?? [];
    expect(job).toMatchObject({ id: expect.stringMatching(/^j\d+$/), name: 'TIMER' });
    expect(Object.keys(job?.['data'] as object)).toEqual(['shard']);
    const one = await json(`/api/queues/short/${String(job?.['id'])}`);
    const all = [text, one.text, (await json('/api/redis/stats')).text, await everythingIn(redis.port)].join(
      '\n',
    );
    expect(all).toContain(String(job?.['id']));
    expect(all).not.toContain(CANARY);
    expect(all).not.toContain(published.appId);
  });

  it.each([
    ['PUT', '/api/queues/pause'],
    ['PUT', '/api/queues/short/empty'],
    ['PUT', '/api/queues/short/obliterate'],
    ['PUT', '/api/queues/short/j1/clean'],
    ['POST', '/api/queues/short/add'],
    ['PATCH', '/api/queues/short/j1/update-data'],
    ['DELETE', '/api/queues/short/j1'],
  ])('has no %s %s', async (method, path) => {
    const before = await everythingIn(redis.port);
    expect((await app.request(method, `${BOARD}${path}`, { token, body: {} })).status).toBe(405);
    expect((await redisCli(redis.port, 'exists', '{svc-jobs}:short:meta')).trim()).toBe('1');
    expect(idsIn(await everythingIn(redis.port))).toEqual(idsIn(before));
  });

  it.each(['/static/../package.json', '/static/js', '/api/queues/none/j1/flow', '/api/none', '/none'])(
    'answers 404 for %s',
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );

  it('asks for a token, and for the permission for all applications', async () => {
    expect((await app.request('GET', BOARD, { token: null })).status).toBe(401);
    for (const scope of ['application:deliver', 'part']) {
      for (const path of ['', '/api/queues', '/static/favicon.ico']) {
        const response = await app.request('GET', `${BOARD}${path}`, {
          token: await app.tokenWith({ scope }),
        });
        expect(response.status).toBe(403);
      }
    }
  });

  it('answers 503 while Redis says nothing', async () => {
    await redisCli(redis.port, 'client', 'pause', '3000', 'all');
    const response = await get('/api/queues');
    expect(response.status).toBe(503);
    expect(response.body).toMatchObject({ message: 'Redis does not answer.' });
    expect(response.headers.get('retry-after')).toBe('5');
  });
});

describe('GET /api/platform/jobs, without its settings', () => {
  it.each([{ JOBS_BOARD_PERMISSION: 'integration-management' }, { REDIS_URL: 'redis://127.0.0.1:1' }])(
    'is no endpoint: %j',
    async (settings: Record<string, string>) => {
      const app = await TestApp.start({ JOBS_WORKERS: 'false', ...settings });
      try {
        for (const path of ['', '/', '/api/queues', '/static/favicon.ico']) {
          expect((await app.request('GET', `${BOARD}${path}`)).status).toBe(404);
        }
      } finally {
        await app.close();
      }
    },
  );
});

/** Every key of Redis with all that it holds. */
async function everythingIn(port: number): Promise<string> {
  const keys = (await redisCli(port, 'keys', '*')).split('\n').filter((key) => key !== '');
  const values = await Promise.all(
    keys.map(async (key) => {
      const type = (await redisCli(port, 'type', key)).trim();
      const read: Record<string, string[]> = {
        string: ['get', key],
        hash: ['hgetall', key],
        list: ['lrange', key, '0', '-1'],
        zset: ['zrange', key, '0', '-1'],
        set: ['smembers', key],
        stream: ['xrange', key, '-', '+'],
      };
      return `${key} ${await redisCli(port, ...(read[type] ?? ['type', key]))}`;
    }),
  );
  return values.join('\n');
}

/** Ids of jobs. */
function idsIn(text: string): string[] {
  return [...new Set(text.match(/:j\d+\b/g))].toSorted();
}
