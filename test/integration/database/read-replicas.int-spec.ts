import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../../../src/database/database.js';
import { ReadReplicas } from '../../../src/database/replicas/read-replicas.js';
import { TestApp } from '../../support/app.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';
import { detailsPath, listPath, versionPath } from '../../support/factories.js';
import { Follower } from '../../support/runtime/follower.js';
import { taskProcess, ui, userTask } from '../../support/runtime/process-files.js';
import { appPath, publish, type Published } from '../../support/runtime/publish.js';
import { eventually, executed, instancePath, started } from '../../support/runtime/runtime-client.js';
import { migrateDatabase } from '../../support/test-database.js';
import { TcpProxy } from '../health/tcp-proxy.js';
import { createdSystem, newPlace } from '../systems/rows.js';

const testUrl = String(process.env['DATABASE_URL']);
const NAME = `svc_replica_${process.pid}`;
const DISCOVERY = '/api/platform/discover';

/**
 * The replica is another database of the same server, with rows of its own or none. A view in place of `write_proofs` makes it
 * one that does not lag, so that whatever is read there is seen to be missing.
 */
describe.skipIf(testUrl.startsWith('sqlite:'))('a DATABASE_READ_URL', () => {
  let app: TestApp;
  let proxy: TcpProxy;
  let replicaUrl: string;
  let published: Published;
  let uuid: string;
  const place = newPlace();
  const main = new URL(testUrl).pathname.slice(1);

  const settings = (): Record<string, string> => ({
    JOBS_WORKERS: 'false',
    DATABASE_READ_URL: proxy.through(replicaUrl),
    DATABASE_READ_LOOK_MS: '50',
    DATABASE_READ_MAX_LAG_SECONDS: '60',
  });
  const proofs = (age: string): Promise<unknown> =>
    app.dataSource.query(
      `CREATE OR REPLACE VIEW ${NAME}.write_proofs AS SELECT slot, written_at - INTERVAL ${age} AS written_at FROM ${main}.write_proofs`,
    );
  const copied = (table: string, where: string): Promise<unknown> =>
    app.dataSource.query(`INSERT INTO ${NAME}.${table} SELECT * FROM ${main}.${table} WHERE ${where}`);
  const used = (count: number): Promise<number> =>
    eventually(
      () => Promise.resolve(app.nest.get(ReadReplicas).counts.used),
      (found) => found === count,
    );
  const items = async (path: string, member: string): Promise<Record<string, unknown>[]> => {
    const { status, body } = await app.request<Record<string, Record<string, unknown>[]>>('GET', path);
    expect(status).toBe(200);
    return body[member] as Record<string, unknown>[];
  };
  const metrics = async (): Promise<string> => (await fetch(`${app.url}/metrics`)).text();
  /** Paths of what may be old, and the member that holds the entries. */
  const lists = (): [string, string][] => {
    const { appId, versionId } = place;
    return [
      [listPath(appId, versionId), 'systems'],
      [`${appPath(published.appId)}/builds`, 'builds'],
      [`${appPath(published.appId)}/app-version`, 'versions'],
      [appPath('').slice(0, -1), 'applications'],
      [`/rtm/api/runtime/process-instance?applicationId=${published.appId}`, 'instances'],
      [`${instancePath(uuid)}/history`, 'events'],
      [auditPath(appId, versionId), 'events'],
      [`${appPath(appId)}/audit`, 'events'],
      [`${DISCOVERY}/scans`, 'scans'],
      [`${DISCOVERY}/changes`, 'changes'],
    ];
  };
  const auditPath = (appId: string, versionId: string): string =>
    `${versionPath(appId, versionId)}/integration/api/systems/audit`;

  beforeAll(async () => {
    replicaUrl = await scratchDatabase(testUrl, NAME);
    await migrateDatabase({ url: replicaUrl, settings: {} });
    proxy = await TcpProxy.start(replicaUrl);
    app = await TestApp.start(settings());
    await app.dataSource.query(`DROP TABLE ${NAME}.write_proofs`);
    await proofs('0 SECOND');
    await used(1);
    // All of this is decided by rows that the replica does not have.
    published = await publish(app, { bpmn: taskProcess('plain', userTask('a'), userTask('b')) });
    const instance = await started(app, published, 'plain', {});
    uuid = instance.uuid;
    await executed(app, uuid, instance.token.uuid, ui('a'));
    await createdSystem(app, place);
    await app.request('GET', DISCOVERY);
    await copied('process_instances', `uuid = '${uuid}'`);
  });
  beforeEach(async () => {
    proxy.set('open');
    await proofs('0 SECOND');
    await used(1);
  });
  afterAll(async () => {
    await app.close();
    await proxy.stop();
    await dropDatabase(testUrl, NAME);
  });

  it('answers lists, history and audit, and nothing that must not be old', async () => {
    for (const [path, member] of lists()) {
      const found = await items(path, member);
      expect([path, found.length]).toEqual([path, path.startsWith('/rtm') && member === 'instances' ? 1 : 0]);
    }
    expect((await app.request('GET', instancePath(uuid))).body['history']).not.toEqual([]);
    proxy.set('down');
    for (const [path, member] of lists()) {
      expect([path, (await items(path, member)).length]).not.toEqual([path, 0]);
    }
  });

  it.each(['no-cache', 'Max-Age=0', 'no-transform , NO-CACHE', 'max-age="59"', 'max-age=600, max-age=1'])(
    'is not asked where the request says Cache-Control: %s',
    async (value) => {
      for (const [path, member] of lists()) {
        const { body } = await app.request('GET', path, { headers: { 'cache-control': value } });
        expect([path, body[member]]).not.toEqual([path, []]);
      }
    },
  );

  it.each(['max-age=60', 'no-cachet', 'x="no-cache', 'no-store', 'max-age=-1', 'min-fresh=1'])(
    'answers where the request says Cache-Control: %s',
    async (value) => {
      const headers = { 'cache-control': value };
      const builds = `${appPath(published.appId)}/builds`;
      expect((await app.request('GET', builds, { headers })).body).toMatchObject({ builds: [] });
    },
  );

  it('answers with its own rows, and getById and its entity tag come from the writer', async () => {
    const own = newPlace();
    const { id, resourceId } = await createdSystem(app, own, { payload: { name: 'new' } });
    await copied('systems', `id = '${id}'`);
    await app.dataSource.query(`UPDATE ${NAME}.systems SET name = 'old' WHERE id = ?`, [id]);
    const list = listPath(own.appId, own.versionId);
    expect(await items(list, 'systems')).toEqual([expect.objectContaining({ name: 'old' })]);
    const details = detailsPath(resourceId, own.appId, own.versionId);
    const { body, headers } = await app.request('GET', details);
    expect(body['name']).toBe('new');
    const again = { headers: { 'if-none-match': String(headers.get('etag')) } };
    expect((await app.request('GET', details, again)).status).toBe(304);
  });

  it('tells live progress nothing', async () => {
    const follower = await Follower.open(app, uuid, await app.tokenWith({}), '0');
    await eventually(
      () => Promise.resolve(follower.events),
      (events) => events.some(({ event }) => event === 'history'),
    );
    follower.leave();
  });

  it('has no last word: what it does not know, the writer may', async () => {
    const other = await started(app, published, 'plain', {});
    expect(await items(`${instancePath(other.uuid)}/history`, 'events')).not.toEqual([]);
    expect(app.nest.get(ReadReplicas).counts.used).toBe(1);
  });

  it('gives sessions that can change nothing', async () => {
    const seen: unknown[] = [];
    await app.nest.get(Database).readOld(async (manager) => {
      seen.push(await manager.query('SELECT DATABASE() AS name'));
      for (const sql of ["UPDATE systems SET name = 'x'", 'CREATE TABLE t (id INT)', 'DELETE FROM systems']) {
        seen.push(await manager.query(sql).catch(({ code }: { code: string }) => code));
      }
    });
    const refused = 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION';
    expect(seen).toEqual([[{ name: NAME }], refused, refused, refused]);
  });

  it.each(['down', 'silent'] as const)(
    'is left for the writer while it is %s, without a failure',
    async (mode) => {
      const builds = `${appPath(published.appId)}/builds`;
      expect(await items(builds, 'builds')).toEqual([]);
      proxy.set(mode);
      expect(await items(builds, 'builds')).toHaveLength(1);
      expect((await app.request('GET', '/readyz', { token: null })).status).toBe(200);
      expect(await metrics()).toMatch(/^svc_database_read_replicas\{state="left_out"\} 1$/m);
      proxy.set('open');
      await expect.poll(() => items(builds, 'builds')).toEqual([]);
      const text = await metrics();
      expect(text).toMatch(/^svc_database_old_reads_total\{by="replica"\} [1-9]/m);
      expect(text).toMatch(/^svc_database_old_reads_total\{by="writer"\} [1-9]/m);
      expect(text).toMatch(/^svc_database_read_replicas\{state="used"\} 1$/m);
    },
  );

  it('is left for the writer while it lags too much', async () => {
    const builds = `${appPath(published.appId)}/builds`;
    await proofs('61 SECOND');
    await expect.poll(() => items(builds, 'builds')).toHaveLength(1);
    await used(0);
    await proofs('1 SECOND');
    await expect.poll(() => items(builds, 'builds')).toEqual([]);
  });

  it('is not waited for by a start', async () => {
    proxy.set('down');
    const late = await TestApp.start(settings());
    try {
      const builds = `${appPath(published.appId)}/builds`;
      const listed = async () => (await late.request<{ builds: unknown[] }>('GET', builds)).body.builds;
      expect((await late.request('GET', '/readyz', { token: null })).status).toBe(200);
      expect(await listed()).toHaveLength(1);
      proxy.set('open');
      await expect.poll(listed).toEqual([]);
    } finally {
      await late.close();
    }
  });
});
