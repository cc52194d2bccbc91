import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { Log } from '../../../../src/platform/observability/logging/log.js';
import { awaitDatabase } from '../../../../src/store/connection/connect.js';
import { withPatience } from '../../../../src/store/connection/server-pool.js';
import { SCHEMA } from '../../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../../../test/support/databases/start-databases.js';
import { AUDIENCE } from '../../../../test/support/issuer.js';
import { TcpProxy } from '../../../../test/integration/health/tcp-proxy.js';
import { BuiltService } from '../../../../test/integration/secrets/built-service.js';
import { LIMITS_LOADER } from '../../../../test/support/evaluation-service.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const testUrl = String(process.env['DATABASE_URL']);
const NAME = `svc_silent_${process.pid}`;
const SETTINGS = {
  NODE_ENV: 'test',
  'databaseLimits.lockWaitSeconds': '1',
  'databaseLimits.silenceMs': '1000',
  'databaseLimits.connectTimeoutMs': '1000',
  SECRETS_KEYS: `k:${randomBytes(32).toString('base64')}`,
};
/** Generous limit: the timeouts are seconds, and waiting for the statement or the server would take a minute or forever. */
const MAX_MS = 50_000;
const UNUSABLE = /^DATABASE_URL names a database that cannot be used: [A-Z_]+$/;

describe.skipIf(testUrl.startsWith('sqlite:'))('a server that falls silent', () => {
  let url: string;
  let proxy: TcpProxy;
  const open: DataSource[] = [];

  beforeAll(async () => {
    url = await scratchDatabase(testUrl, NAME);
  });
  afterAll(() => dropDatabase(testUrl, NAME));
  beforeEach(async () => {
    proxy = await TcpProxy.start(url);
  });
  afterEach(async () => {
    proxy.set('down');
    await Promise.all(open.splice(0).map((dataSource) => dataSource.destroy()));
    await proxy.stop();
  });

  const connect = async (
    prepare: (dataSource: DataSource) => Promise<unknown> = async () => undefined,
    settings: Record<string, string> = {},
  ): Promise<DataSource> => {
    const env = limitedEnv('maintenance', {
      ...SETTINGS,
      LOG_LEVEL: 'silent',
      DATABASE_URL: proxy.through(url),
      ...settings,
    });
    const dataSource = await awaitDatabase(env, SCHEMA, new Log(env), prepare);
    open.push(dataSource);
    return dataSource;
  };
  const failureOf = async (work: Promise<unknown>): Promise<{ error: unknown; tookMs: number }> => {
    const began = performance.now();
    const error = await work.then(
      () => 'no failure',
      (failure: unknown) => failure,
    );
    return { error, tookMs: performance.now() - began };
  };

  it('during startup is waited for, and the preparation starts over', async () => {
    let times = 0;
    const prepare = async (dataSource: DataSource): Promise<void> => {
      times += 1;
      if (times === 1) {
        proxy.set('silent');
        setTimeout(() => proxy.set('open'), 4_000);
      }
      await dataSource.query('SELECT 1');
    };
    await (await connect(prepare)).query('SELECT 1');
    expect(times).toBe(2);
  });

  it('fails a start with one sentence when it does not recover in time', async () => {
    const prepare = (dataSource: DataSource): Promise<unknown> => {
      proxy.set('silent');
      return dataSource.query('SELECT 1');
    };
    const { error, tookMs } = await failureOf(connect(prepare, { 'databaseLimits.startWaitSeconds': '3' }));
    expect((error as Error).message).toMatch(UNUSABLE);
    expect(tookMs).toBeLessThan(MAX_MS);
  });

  it('is distinguished from a server that executes a long migration statement', async () => {
    const dataSource = await connect();
    const long = (): Promise<unknown> => dataSource.query('SELECT SLEEP(5)');
    await withPatience(dataSource, long);
    const impatient = await failureOf(long());
    expect(impatient.error).toMatchObject({ code: 'DATABASE_SILENT' });
    const silent = withPatience(dataSource, () => dataSource.query('SELECT SLEEP(60)'));
    await sleep(2_500);
    proxy.set('silent');
    const { error, tookMs } = await failureOf(silent);
    expect(error).toMatchObject({ code: 'DATABASE_SILENT' });
    expect(tookMs).toBeLessThan(MAX_MS);
  });

  const run = (args: string[]): Promise<{ status: unknown; stderr: string }> =>
    new Promise((done) => {
      const options = { env: { PATH: process.env['PATH'], ...SETTINGS, DATABASE_URL: proxy.through(url) } };
      execFile(process.execPath, [...LIMITS_LOADER, ...args], options, (error, _stdout, stderr) =>
        done({ status: error?.code ?? 0, stderr }),
      );
    });

  it.each([
    ['dist/src/migration.cli.js run', 'FOR UPDATE'],
    ['dist/src/migration.cli.js run', 'CREATE TABLE'],
    ['dist/src/migration.cli.js check', 'migrations'],
    ['dist/src/migration.cli.js revert', 'migrations'],
    ['dist/src/rotate-secrets.cli.js', 'information_schema'],
  ])('fails %s with one sentence, at %s', async (command, text) => {
    proxy.silenceAt(text);
    const began = performance.now();
    const { status, stderr } = await run(command.split(' '));
    expect(stderr.trim()).toMatch(UNUSABLE);
    expect(status).toBe(1);
    expect(performance.now() - began).toBeLessThan(2 * MAX_MS);
  });

  it.each(['SESSION VARIABLES', 'FOR UPDATE', 'CREATE TABLE'])(
    'fails the service with one sentence, at %s',
    async (text) => {
      proxy.silenceAt(text);
      const service = await BuiltService.launch({
        ...SETTINGS,
        DATABASE_URL: proxy.through(url),
        'databaseLimits.startWaitSeconds': '3',
        OIDC_ISSUER: 'http://127.0.0.1:1',
        OIDC_AUDIENCE: AUDIENCE,
      });
      expect(await service.ended()).toBe(1);
      expect(service.output).toMatch(/"reason":"DATABASE_URL names a database that cannot be used: [A-Z_]+"/);
      expect(service.output).not.toContain('"stack"');
    },
  );
});
