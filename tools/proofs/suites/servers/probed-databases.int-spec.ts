import { createConnection, type Connection } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDatabases, type TestDatabase } from '../../../../test/support/databases/start-databases.js';
import { tryStart } from '../../../../test/support/databases/local-server.js';
import { component, failureOf, runProbe } from '../../../../test/support/discovery/run-probe.js';
import {
  psql,
  redisCommand,
  startPostgresql,
  startRedis,
} from '../../../../test/support/discovery/servers.js';
import {
  secureMysql,
  securePostgresql,
  startTlsFront,
} from '../../../../test/support/discovery/tls-servers.js';
import { tlsCertificate } from '../../../../test/support/peers/certificates.js';

const OPEN = 3;
const certificate = tlsCertificate(2);
/** Warnings of a probe about that certificate. */
const ENDS_SOON = [{ code: 'certificate_expires', days: 1 }];
const [sql, postgresql, redis] = await Promise.all([
  startDatabases(['mariadb', 'mysql'], { fast: true }),
  tryStart(startPostgresql),
  tryStart(startRedis),
]);
afterAll(async () => {
  await Promise.all([
    ...sql.databases.map((database) => database.stop()),
    postgresql.server?.server.stop(),
    redis.server?.server.stop(),
  ]);
});

describe.each(['mariadb', 'mysql'] as const)('the probe of %s', (kind) => {
  const database = sql.databases.find((each) => each.kind === kind) as TestDatabase;
  const reason = sql.missing.find((each) => each.kind === kind)?.reason;
  const port = database === undefined ? 0 : Number(new URL(database.url).port);
  const target = component('mysql', `mysql://127.0.0.1:${port}`, {
    credentials: { username: 'probe', password: 'canary-probe' },
  });
  const others: Connection[] = [];

  beforeAll(async () => {
    if (database === undefined || !database.owned) {
      return;
    }
    const admin = await createConnection({ uri: database.url });
    await admin.query("CREATE USER 'probe'@'%' IDENTIFIED BY 'canary-probe'");
    await admin.end();
    for (let index = 0; index < OPEN; index += 1) {
      others.push(await createConnection({ uri: database.url }));
    }
  });
  afterAll(() => others.forEach((each) => each.destroy()));

  it.skipIf(reason)(
    `reports the same as the server, with only USAGE${reason ? `: ${reason}` : ''}`,
    async () => {
      const busy = others[0]!.query('SELECT SLEEP(2)');
      const found = await runProbe(target);
      const [processes] = await others[1]!.query('SHOW PROCESSLIST');
      const commands = (processes as { User: string; Command: string; Info: string | null }[]).filter(
        ({ User, Info }) => User === 'svc' && Info !== 'SHOW PROCESSLIST',
      );
      const active = commands.filter(({ Command }) => Command === 'Query').length;
      expect([active, commands.length]).toEqual([1, OPEN - 1]);
      const [[about]] = (await others[1]!.query(
        'SELECT SUBSTRING_INDEX(VERSION(), "-", 1) AS version, @@max_connections AS max',
      )) as unknown as [{ version: string; max: number }[]];
      expect(found).toEqual({
        type: kind,
        version: about!.version,
        connections: { active, idle: OPEN - active, max: about!.max },
        warnings: [],
      });
      await busy;
    },
  );

  it.skipIf(reason)('distinguishes wrong credentials, a dead server and a live one', async () => {
    const stranger = { ...target, credentials: { username: 'probe', password: 'wrong' } };
    expect(await failureOf(stranger)).toBe('auth');
    expect(await failureOf({ ...target, options: { tls: true } })).toBe('tls');
    others.splice(0).forEach((each) => each.destroy());
    // Stop gracefully, since these servers are not durable and the account must still exist afterwards.
    await database.kill('SIGTERM');
    expect(await failureOf(target)).toBe('refused');
    await database.restart();
    expect((await runProbe(target)).type).toBe(kind);
  });

  // MariaDB reloads certificates only at startup.
  if (kind === 'mysql') {
    it.skipIf(reason ?? !database.owned)('trusts a certificate only for the configured address', async () => {
      await secureMysql(database.url, await certificate);
      const options = { tls: true, ca: (await certificate).cert };
      expect((await runProbe({ ...target, options })).warnings).toEqual(ENDS_SOON);
      expect(await failureOf({ ...target, options: { tls: true } })).toBe('tls');
      const endpoint = target.endpoint.replace('127.0.0.1', 'localhost');
      expect(await failureOf({ ...target, endpoint, options })).toBe('tls');
    });
  }
});

describe('the probe of postgresql', () => {
  const { server, missing } = postgresql;
  const as = (name: string, password = `canary-${name}`) =>
    component('postgresql', server?.endpoint ?? '', { credentials: { username: name, password } });

  it.skipIf(missing)(
    `reports the same as psql, with pg_monitor${missing ? `: ${missing}` : ''}`,
    async () => {
      const clients = await Promise.all(
        Array.from({ length: OPEN }, async () => {
          const client = new Client(`postgresql://admin:admin@127.0.0.1:${server!.port}/postgres`);
          await client.connect();
          return client;
        }),
      );
      const busy = clients[0]!.query('SELECT pg_sleep(2)');
      try {
        const truth = await psql(
          server!.port,
          `SELECT count(*) FILTER (WHERE state = 'active'), count(*) FILTER (WHERE state = 'idle')
           FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
        );
        const [active, idle] = truth.split('|').map(Number);
        expect([active, idle]).toEqual([1, OPEN - 1]);
        expect(await runProbe(as('probe'))).toEqual({
          type: 'postgresql',
          version: /^\d+\.\d+/.exec(await psql(server!.port, 'SHOW server_version'))![0],
          connections: { active, idle, max: 20 },
          warnings: [],
        });
        expect(await runProbe(as('plain'))).toMatchObject({
          connections: { active: OPEN, idle: 0, max: 20 },
          warnings: [{ code: 'privilege_missing', privilege: 'pg_monitor' }],
        });
      } finally {
        await busy;
        await Promise.all(clients.map((client) => client.end()));
      }
    },
  );

  it.skipIf(missing)('warns when four fifths of the connections are used', async () => {
    const clients = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const client = new Client(`postgresql://admin:admin@127.0.0.1:${server!.port}/postgres`);
        await client.connect();
        return client;
      }),
    );
    try {
      expect((await runProbe(as('probe'))).warnings).toEqual([
        { code: 'connections_nearly_used', used: 16, max: 20 },
      ]);
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });

  it.skipIf(missing)(
    'distinguishes wrong credentials, a missing database, a dead server and a live one',
    async () => {
      expect(await failureOf(as('probe', 'wrong'))).toBe('auth');
      expect(await failureOf({ ...as('probe'), credentials: null })).toBe('auth');
      expect(await failureOf({ ...as('probe'), options: { tls: true } })).toBe('tls');
      const elsewhere = { ...as('probe'), endpoint: `postgresql://127.0.0.1:${server!.port}/absent` };
      expect(await failureOf(elsewhere)).toBe('configuration');
      await server!.server.kill();
      expect(await failureOf(as('probe'))).toBe('refused');
      await server!.server.restart();
      expect((await runProbe(as('probe'))).type).toBe('postgresql');
    },
  );

  it.skipIf(missing)('trusts a certificate only for the configured address', async () => {
    await securePostgresql(server!, await certificate);
    const target = { ...as('probe'), options: { tls: true, ca: (await certificate).cert } };
    expect((await runProbe(target)).warnings).toEqual(ENDS_SOON);
    expect(await failureOf({ ...target, options: { tls: true } })).toBe('tls');
    const endpoint = target.endpoint.replace('127.0.0.1', 'localhost');
    expect(await failureOf({ ...target, endpoint })).toBe('tls');
  });
});

describe('the probe of redis', () => {
  const { server, missing } = redis;
  const as = (username: string, password = `canary-${username}`) =>
    component('redis', server?.endpoint ?? '', { credentials: { username, password } });
  const cli = (...args: string[]) => redisCommand(server!.port, ...args);

  it.skipIf(missing)(
    `reports the same as redis-cli, with only +info${missing ? `: ${missing}` : ''}`,
    async () => {
      const found = await runProbe(as('probe'));
      const info = await cli('INFO');
      expect(found).toMatchObject({
        type: 'redis',
        version: /redis_version:(\S+)/.exec(info)![1],
        warnings: [],
      });
      const used = Number(/used_memory:(\d+)/.exec(info)![1]);
      // Connection buffers count, so two measurements are never identical.
      expect(Math.abs(found.memory!.usedBytes - used)).toBeLessThan(200_000);
      expect(found.memory!.usedBytes + found.memory!.availableBytes).toBe(64 * 1_048_576);
    },
  );

  it.skipIf(missing)('warns of nearly used memory, and of unlimited memory', async () => {
    const limit = Number(/used_memory:(\d+)/.exec(await cli('INFO'))![1]);
    await cli('CONFIG', 'SET', 'maxmemory', String(Math.ceil(limit * 1.1)));
    const [warning] = (await runProbe(as('probe'))).warnings!;
    expect(warning).toMatchObject({ code: 'memory_nearly_used' });
    await cli('CONFIG', 'SET', 'maxmemory', '0');
    expect((await runProbe(as('probe'))).warnings).toEqual([{ code: 'memory_unlimited' }]);
    await cli('CONFIG', 'SET', 'maxmemory', '64mb');
  });

  it.skipIf(missing)(
    'distinguishes wrong credentials, missing permissions, a dead server and a live one',
    async () => {
      expect(await failureOf(as('probe', 'wrong'))).toBe('auth');
      expect(await failureOf({ ...as('probe'), credentials: null })).toBe('auth');
      expect(await failureOf(as('blind'))).toBe('forbidden');
      await server!.server.kill();
      expect(await failureOf(as('probe'))).toBe('refused');
      await server!.server.restart();
      expect((await runProbe(as('probe'))).type).toBe('redis');
    },
  );

  it.skipIf(missing)('trusts a certificate only for the configured address', async () => {
    const front = await startTlsFront(server!.port, await certificate);
    const options = { ca: (await certificate).cert };
    const target = { ...as('probe'), endpoint: `rediss://127.0.0.1:${front.port}`, options };
    expect((await runProbe(target)).warnings).toEqual(ENDS_SOON);
    expect(await failureOf({ ...target, options: {} })).toBe('tls');
    const endpoint = target.endpoint.replace('127.0.0.1', 'localhost');
    expect(await failureOf({ ...target, endpoint })).toBe('tls');
    await front.close();
  });
});
