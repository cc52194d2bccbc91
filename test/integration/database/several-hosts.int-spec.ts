import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Log } from '../../../src/common/logging/log.js';
import { databaseHosts } from '../../../src/config/database-url.js';
import { Env } from '../../../src/config/env.js';
import { awaitDatabase } from '../../../src/database/connect.js';
import { Database } from '../../../src/database/database.js';
import { DatabaseUnavailableError } from '../../../src/database/database.errors.js';
import { SCHEMA } from '../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../support/databases/scratch-database.js';
import { AUDIENCE } from '../../support/issuer.js';
import { IN_TIME_MS } from '../../support/patience.js';
import { rows } from '../../prove/support/rows.js';
import { TcpProxy } from '../health/tcp-proxy.js';
import { BuiltService } from '../secrets/built-service.js';

const testUrl = String(process.env['DATABASE_URL']);
const NAME = `svc_hosts_${process.pid}`;
const SETTINGS = {
  NODE_ENV: 'test',
  DATABASE_LOCK_WAIT_SECONDS: '1',
  DATABASE_CONNECT_TIMEOUT_MS: '1000',
  DATABASE_WRITER_LOOK_MS: '50',
  DATABASE_WRITER_SILENCE_MS: '500',
  SECRETS_KEYS: `k:${randomBytes(32).toString('base64')}`,
};

describe.skipIf(testUrl.startsWith('sqlite:'))('a DATABASE_URL of several hosts', () => {
  let url: string;
  let one: TcpProxy;
  let other: TcpProxy;
  let dataSource: DataSource | undefined;

  beforeAll(async () => {
    url = await scratchDatabase(testUrl, NAME);
    await rows(
      url,
      'CREATE TABLE write_proofs (slot int NOT NULL PRIMARY KEY, written_at datetime(3) NOT NULL)',
    );
  });
  afterAll(() => dropDatabase(testUrl, NAME));
  beforeEach(async () => {
    [one, other] = await Promise.all([TcpProxy.start(url), TcpProxy.start(url)]);
  });
  afterEach(async () => {
    await dataSource?.destroy();
    dataSource = undefined;
    await Promise.all([one.stop(), other.stop()]);
  });

  const placeOf = (proxy: TcpProxy): string => new URL(proxy.through(url)).host;
  /** Both proxies lead to one server: a host that is not open takes no writes. */
  const hosts = (): string => {
    const address = new URL(url);
    const user = `${address.username}${address.password === '' ? '' : `:${address.password}`}`;
    return `${address.protocol}//${user}@${placeOf(one)},${placeOf(other)}/${NAME}`;
  };
  const open = async (settings: Record<string, string> = {}): Promise<Database> => {
    const env = Env.parse('maintenance', {
      ...SETTINGS,
      LOG_LEVEL: 'silent',
      DATABASE_URL: hosts(),
      ...settings,
    });
    dataSource = await awaitDatabase(env, SCHEMA, new Log(env));
    return new Database(dataSource, env);
  };
  const ping = (database: Database): Promise<unknown> =>
    database.write((manager) => manager.query('SELECT 1 AS one'));

  it('is found, whichever host takes the writes', async () => {
    expect(databaseHosts(hosts())).toHaveLength(2);
    one.set('down');
    await ping(await open());
  });

  it('is followed to another host when the first one is gone, without a failure', async () => {
    other.set('down');
    const database = await open();
    await ping(database);
    one.set('down');
    other.set('open');
    await ping(database);
    await database.read((manager) => manager.query('SELECT 1 AS one'));
  });

  it('is followed to another host when the first one falls silent, also by those who wait for it', async () => {
    other.set('down');
    const database = await open({ DATABASE_SILENCE_MS: '60000' });
    await ping(database);
    one.set('silent');
    const waiting = ping(database);
    other.set('open');
    await waiting;
    await ping(database);
  });

  it('is waited for while no host takes writes', async () => {
    other.set('down');
    const database = await open();
    await ping(database);
    one.set('down');
    setTimeout(() => one.set('open'), 1_000);
    await ping(database);
  });

  it('lets what was read decide only while the host that was asked takes the writes', async () => {
    other.set('down');
    const database = await open();
    const before = performance.now();
    await ping(database);
    await database.demandWriterSince(before);

    one.set('down');
    await expect(database.demandWriterSince(before)).rejects.toThrow(DatabaseUnavailableError);
    other.set('open');
    await ping(database);

    await expect(database.demandWriterSince(before)).rejects.toThrow(DatabaseUnavailableError);
    await database.demandWriterSince(performance.now());
  });

  it('holds that behind a proxy over a connection that is older than the reading', async () => {
    const address = { DATABASE_URL: one.through(url), DATABASE_WRITER_WAIT_SECONDS: '30' };
    const database = await open(address);
    await vi.waitFor(() => database.demandWriterSince(performance.now()), IN_TIME_MS);
    const before = performance.now();

    one.set('down');
    one.set('open');

    await expect(database.demandWriterSince(before)).rejects.toThrow(DatabaseUnavailableError);
    await expect(database.demandWriterSince(before)).rejects.toThrow(DatabaseUnavailableError);
    await database.demandWriterSince(performance.now());
  });

  it('ends a start in one sentence where several hosts take writes by themselves', async () => {
    const service = await BuiltService.launch({
      ...SETTINGS,
      DATABASE_URL: hosts(),
      DATABASE_START_WAIT_SECONDS: '0',
      DATABASE_POOL_WAIT_MS: '1000',
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_AUDIENCE: AUDIENCE,
    });
    expect(await service.ended()).toBe(1);
    expect(service.output).toContain(
      '"reason":"DATABASE_URL names a database that cannot be used: DATABASE_NO_WRITER"',
    );
  });

  it('ends a start as wrong settings where every host refuses the user', async () => {
    const service = await BuiltService.launch({
      ...SETTINGS,
      DATABASE_URL: hosts().replace(/\/\/[^@]*@/, '//nobody:wrong@'),
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_AUDIENCE: AUDIENCE,
    });
    expect(await service.ended()).toBe(78);
    expect(service.output).toContain('ER_ACCESS_DENIED_ERROR');
  });
});
