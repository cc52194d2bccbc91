import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Env } from '../../../../src/platform/config/env.js';
import { dataSourceOptions } from '../../../../src/store/connection/data-source.options.js';
import { SCHEMA } from '../../../../src/schema.js';
import { dropDatabase, scratchDatabase } from '../../../../test/support/databases/start-databases.js';
import { AUDIENCE } from '../../../../test/support/issuer.js';
import { BuiltService } from '../../../../test/integration/secrets/built-service.js';

const EX_CONFIG = 78;
const KEY = `k:${randomBytes(32).toString('base64')}`;
const MIGRATION = 'dist/src/migration.cli.js';
const ROTATION = 'dist/src/rotate-secrets.cli.js';
const PASSWORD = 'pw-canary-4c1e';
const testUrl = String(process.env['DATABASE_URL']);
const isEmbedded = testUrl.startsWith('sqlite:');
const NAME = `svc_maintenance_${process.pid}`;

describe('commands on the database', () => {
  let folder: string;
  let url: string;
  let target: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-maintenance-'));
    url = isEmbedded ? `sqlite:${join(folder, 'own.sqlite')}` : await scratchDatabase(testUrl, NAME);
    const { hostname, port } = isEmbedded ? { hostname: '', port: '' } : new URL(url);
    target = isEmbedded
      ? `embedded file ${join(folder, 'own.sqlite')}`
      : `server ${hostname}, port ${port}, database ${NAME}`;
  });

  afterAll(async () => {
    await (isEmbedded ? undefined : dropDatabase(testUrl, NAME));
    await rm(folder, { recursive: true, force: true });
  });

  const run = (file: string, args: string[], env: Record<string, string> = {}): Promise<Ended> =>
    runNode([file, ...args], { DATA_DIR: folder, SECRETS_KEYS: KEY, ...env });
  const service = async (database = url): Promise<{ status: number; output: string }> => {
    const built = await BuiltService.launch({
      NODE_ENV: 'test',
      DATABASE_URL: database,
      DATA_DIR: folder,
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_AUDIENCE: AUDIENCE,
      SECRETS_KEYS: KEY,
      MIGRATIONS_RUN: 'false',
    });
    return { status: await built.ended(), output: built.output };
  };

  it.each([
    [MIGRATION, 'run'],
    [MIGRATION, 'check'],
    [MIGRATION, 'revert'],
    [ROTATION, undefined],
  ])('%s %s requires an explicit database', async (file, verb) => {
    const args = verb === undefined ? [] : [verb];
    const forgotten = await run(file, args);
    expect(forgotten).toMatchObject({ status: EX_CONFIG, stdout: '' });
    expect(forgotten.stderr).toBe(
      'Wrong configuration:\n  DATABASE_URL is required, or --embedded for the embedded file in DATA_DIR\n',
    );
    await expect(access(join(folder, 'svc.sqlite'))).rejects.toThrow('ENOENT');
    const both = await run(file, [...args, '--embedded'], { DATABASE_URL: url });
    expect(both).toMatchObject({ status: EX_CONFIG, stdout: '' });
    expect(both.stderr).toContain('DATABASE_URL must not be set with --embedded');
    expect(await run(file, [...args, '--embeded'], { DATABASE_URL: url })).toMatchObject({
      status: EX_CONFIG,
    });
  });

  it('print their target without credentials, also if it is unreachable', async () => {
    const away = `mysql://some-user:${PASSWORD}@127.0.0.1:1/svc`;
    const { status, stdout, stderr } = await run(MIGRATION, ['run'], { DATABASE_URL: away });
    expect(status).toBe(1);
    expect(stdout).toBe('Database: server 127.0.0.1, port 1, database svc\n');
    expect(stderr).toContain('DATABASE_URL names a database that cannot be used');
    expect(`${stdout}${stderr}`).not.toMatch(new RegExp(`${PASSWORD}|some-user`));
    const usual = await run(MIGRATION, ['check'], { DATABASE_URL: 'mariadb://db.invalid/svc' });
    expect(usual.stdout).toBe('Database: server db.invalid, port 3306, database svc\n');
    expect(usual.stderr).toMatch(/^DATABASE_URL names a database that cannot be used: \w+\n$/);
  });

  it.each([
    [MIGRATION, 'check'],
    [MIGRATION, 'revert'],
    [ROTATION, undefined],
  ])('%s %s does not create a missing embedded file', async (file, verb) => {
    const ended = await run(file, [...(verb === undefined ? [] : [verb]), '--embedded']);
    expect(ended).toEqual({
      status: 1,
      stdout: `Database: embedded file ${join(folder, 'svc.sqlite')}\n`,
      stderr: 'The file does not exist. Create it with "npm run migration:run", or start the service.\n',
    });
    await expect(access(join(folder, 'svc.sqlite'))).rejects.toThrow('ENOENT');
  });

  it.skipIf(isEmbedded)('exit with the status of invalid settings if the server rejects them', async () => {
    const denied = new URL(url);
    denied.password = PASSWORD;
    const unknown = new URL(url);
    unknown.pathname = `/${NAME}_unknown`;
    for (const wrong of [denied.href, unknown.href]) {
      const { status, stderr } = await run(MIGRATION, ['check'], { DATABASE_URL: wrong });
      expect([status, stderr]).toEqual([
        EX_CONFIG,
        expect.stringMatching(
          /^Wrong configuration:\n {2}DATABASE_URL names a user or database that the server rejects: ER_\w+\n$/,
        ),
      ]);
      expect(stderr).not.toContain(PASSWORD);
      const started = await service(wrong);
      expect([started.status, started.output]).toEqual([
        EX_CONFIG,
        expect.stringContaining('server rejects'),
      ]);
    }
  });

  it('are required by a service whose tables are missing', async () => {
    const { status, output } = await service();
    expect(status).toBe(1);
    expect(output).toMatch(
      /"reason":"The database lacks \d+ migrations \(CreateSystems1780000000000, [^)]+, …\): run \\"npm run migration:run\\" first, or start with MIGRATIONS_RUN=true\."/,
    );
    expect(output).not.toContain('stack');
    const rotation = await run(ROTATION, [], { DATABASE_URL: url });
    expect(rotation).toMatchObject({ status: 1, stdout: `Database: ${target}\n` });
    expect(rotation.stderr).toMatch(/^The database lacks \d+ migrations [^\n]+\n$/);
  });

  it('migrate, check and revert the named database', async () => {
    const env = { DATABASE_URL: url };
    expect((await run(MIGRATION, ['run'], env)).stdout).toMatch(
      new RegExp(`^Database: ${target.replaceAll('.', String.raw`\.`)}\nMigrated: CreateSystems`),
    );
    expect(await run(MIGRATION, ['check'], env)).toMatchObject({
      status: 0,
      stdout: `Database: ${target}\n`,
    });
    expect((await run(ROTATION, [], env)).stdout).toBe(
      `Database: ${target}\nRe-encrypted: 0; already encrypted with the current key: 0.\n`,
    );
    expect(await run(MIGRATION, ['revert'], env)).toMatchObject({
      status: 0,
      stdout: `Database: ${target}\n`,
    });
    expect((await service()).output).toContain('The database lacks 1 migration (');
    expect(await run(MIGRATION, ['run'], env)).toMatchObject({ status: 0 });
  });

  it('cannot restore a dropped table, as the service reports', async () => {
    const dataSource = await new DataSource(
      dataSourceOptions(Env.parse('maintenance', { NODE_ENV: 'test', DATABASE_URL: url }), SCHEMA),
    ).initialize();
    await dataSource.query('DROP TABLE discovery_changes');
    await dataSource.destroy();
    const { status, output } = await service();
    expect(status).toBe(1);
    expect(output).toContain(
      'The database lacks 1 table (discovery_changes), though every migration has run: restore it from a backup',
    );
  });

  it.runIf(isEmbedded)('use the embedded file when requested', async () => {
    const { status, stdout } = await run(MIGRATION, ['run', '--embedded']);
    expect(status).toBe(0);
    expect(stdout).toContain(`Database: embedded file ${join(folder, 'svc.sqlite')}\nMigrated: `);
  });
});

interface Ended {
  status: unknown;
  stdout: string;
  stderr: string;
}

function runNode(args: string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((done) => {
    const options = { env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...env } };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done({ status: error?.code ?? 0, stdout, stderr }),
    );
  });
}
