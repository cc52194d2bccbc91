import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EnvError } from '../../../../src/platform/config/env.js';
import { createPath, createSystemBody, serviceAccount } from '../../../../test/support/factories.js';
import { AUDIENCE, StubIssuer } from '../../../../test/support/issuer.js';
import { BuiltService } from '../../../../test/integration/secrets/built-service.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const EX_CONFIG = 78;
/** Levels of log lines. */
const ERROR = 50;
const FATAL = 60;
const KEY = randomBytes(32).toString('base64');
const PASSWORD = 'pw-canary-7d1f';

/** Variable, invalid value, and the part of the value that must not be printed. */
const INVALID: [string, string, string?][] = [
  ['PORT', '65536'],
  ['PORT', 'canary'],
  ['LOG_LEVEL', 'canary'],
  ['DATABASE_URL', `postgres://user:${PASSWORD}@db/x`, PASSWORD],
  ['DATABASE_URL', `mysql://user:${PASSWORD}@127.0.0.1:99999/x`, PASSWORD],
  ['DATABASE_TLS', 'canary'],
  ['DATABASE_POOL_SIZE', '501'],
  ['OIDC_ISSUER', 'ftp://canary.example.com'],
  ['OIDC_ISSUER', 'canary'],
  ['PERMISSION_RULES', '{canary'],
  ['PERMISSION_RULES', '{"integration-management":"canary"}', 'canary'],
  ['SECRETS_KEYS', `k:${KEY.slice(0, 20)}`, KEY.slice(0, 20)],
  ['SECRETS_KEYS', `bad id:${KEY}`, KEY],
  ['SECRETS_KEYS', `k:${KEY},k:${KEY}`, KEY],
  ['SECRETS_KEYS', KEY, KEY],
  ['TRUST_PROXY', 'true'],
  ['METRICS_PORT', '-1'],
  ['TOOL_CHANGE_POLICY', 'canary'],
  ['RATE_LIMIT_ADDRESS_PER_MINUTE', '-5'],
];

const isEmbedded = String(process.env['DATABASE_URL']).startsWith('sqlite:');
/** Tests independent of the database run with one of them only. */
const onOneDatabase = it.runIf(isEmbedded);
const IN_A_PROCESS: ReadonlySet<string> = new Set(['DATABASE_URL', 'SECRETS_KEYS']);

describe('a start with invalid settings', () => {
  let folder: string;
  let issuer: StubIssuer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-start-'));
    issuer = await StubIssuer.start();
  });
  afterAll(async () => {
    await issuer.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const good = (): Record<string, string> => ({
    NODE_ENV: 'test',
    DATABASE_URL: `sqlite:${join(folder, 'start.sqlite')}`,
    DATA_DIR: folder,
    OIDC_ISSUER: issuer.url,
    OIDC_AUDIENCE: AUDIENCE,
    SECRETS_KEYS: `k:${KEY}`,
    SHUTDOWN_DELAY_MS: '0',
  });

  const onTestDatabase = (keys: string): Record<string, string> => ({
    ...good(),
    DATABASE_URL: String(process.env['DATABASE_URL']),
    SECRETS_KEYS: keys,
  });

  it.each(INVALID)('names %s, not its value (%#)', (name, value, part = value) => {
    const parse = (): unknown => limitedEnv('production', { ...good(), [name]: value });
    expect(parse).toThrow(EnvError);
    expect(parse).toThrow(new RegExp(`^Wrong configuration:\\n  ${name} [^\\n]*$`));
    expect(parse).not.toThrow(part);
  });

  onOneDatabase.each(INVALID.filter(([name]) => IN_A_PROCESS.has(name)))(
    'exits with 78 and prints %s, not its value (%#)',
    async (name, value, part = value) => {
      const { status, output } = await run({ ...good(), [name]: value });
      expect([status, problemsIn(output)]).toEqual([EX_CONFIG, [expect.stringMatching(`^${name} `)]]);
      expect(output).not.toContain(part);
    },
  );

  onOneDatabase('exits with 78 and names all missing and invalid settings at once', async () => {
    const { status, output } = await run({ PORT: 'x', TOOL_CHANGE_POLICY: 'y' });
    expect(status).toBe(EX_CONFIG);
    const names = problemsIn(output).map((problem) => String(problem).replace(/ .*/, ''));
    expect(names.toSorted()).toEqual([
      'DATABASE_URL',
      'OIDC_AUDIENCE',
      'OIDC_ISSUER',
      'PORT',
      'SECRETS_KEYS',
      'TOOL_CHANGE_POLICY',
    ]);
  });

  onOneDatabase('treats an empty variable as absent', async () => {
    const { status, output } = await run({ ...good(), SECRETS_KEYS: '' });
    expect([status, problemsIn(output)]).toEqual([EX_CONFIG, ['SECRETS_KEYS is required']]);
  });

  onOneDatabase('does not use an embedded database in production', async () => {
    const { status, output } = await run({ ...good(), NODE_ENV: 'production' });
    expect([status, problemsIn(output)]).toEqual([
      EX_CONFIG,
      [expect.stringContaining('DATABASE_URL must start with mysql://')],
    ]);
  });

  onOneDatabase.each([
    ['NODE_ENV', 'production'],
    ['DATABASE_URL', `mysql://user:${PASSWORD}@127.0.0.1/x`],
    ['OIDC_ISSUER', 'https://sso.example.com'],
    ['OIDC_AUDIENCE', 'aud-canary'],
  ])('evaluation mode rejects %s', async (name, value) => {
    const dataDir = join(folder, `evaluation-${name}`);
    const { status, output } = await run({ DATA_DIR: dataDir, [name]: value }, 'dist/src/evaluation/main.js');
    expect(status).toBe(EX_CONFIG);
    expect(output).toContain(`${name} must not be`);
    expect(output).not.toContain(PASSWORD);
    expect(output).not.toContain('aud-canary');
    await expect(readdir(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  onOneDatabase('exits with 1 without printing the password if the database is unreachable', async () => {
    const { status, output } = await run({
      ...good(),
      DATABASE_URL: `mysql://user-canary:${PASSWORD}@127.0.0.1:1/x`,
      'databaseLimits.startWaitSeconds': '0',
      'databaseLimits.connectTimeoutMs': '1000',
    });
    expect([status, reasonIn(output)]).toEqual([
      1,
      'DATABASE_URL names a database that cannot be used: ECONNREFUSED',
    ]);
    expect(output).not.toContain(PASSWORD);
    expect(output).not.toContain('user-canary');
    expect(output).not.toContain('127.0.0.1');
  });

  it.skipIf(isEmbedded)(
    'fails without printing the password if the database rejects the account',
    async () => {
      const url = new URL(String(process.env['DATABASE_URL']));
      url.username = 'user-canary';
      url.password = PASSWORD;
      const { status, output } = await run({ ...good(), DATABASE_URL: url.href });
      expect([status, problemsIn(output)]).toEqual([
        EX_CONFIG,
        [expect.stringMatching(/^DATABASE_URL .*ER_ACCESS_DENIED/)],
      ]);
      expect(output).not.toContain(PASSWORD);
    },
  );

  onOneDatabase('fails if EGRESS_ALLOW is invalid', async () => {
    const { status, output } = await run({ ...good(), EGRESS_ALLOW: '10.0.0.0/99' });
    expect([status, problemsIn(output)]).toEqual([EX_CONFIG, [expect.stringMatching(/^EGRESS_ALLOW /)]]);
    expect(output).not.toContain('10.0.0.0/99');
  });

  onOneDatabase('fails if the authority file is unreadable', async () => {
    const { status, output } = await run({
      ...good(),
      DATABASE_URL: `mysql://user:${PASSWORD}@127.0.0.1:1/x`,
      'databaseLimits.startWaitSeconds': '0',
      DATABASE_TLS: 'true',
      TLS_CA_FILE: join(folder, 'canary.pem'),
    });
    expect([status, problemsIn(output)]).toEqual([
      EX_CONFIG,
      ['TLS_CA_FILE must name a file that can be read: ENOENT'],
    ]);
    expect(output).not.toContain('canary.pem');
  });

  onOneDatabase.each(['PORT', 'METRICS_PORT'])('fails if %s is in use', async (name) => {
    const { port } = new URL(issuer.url);
    const { status, output } = await run({ ...good(), [name]: port });
    expect([status, reasonIn(output)]).toEqual([
      1,
      `HOST and ${name} name an address on which the service cannot listen: EADDRINUSE`,
    ]);
    expect(output).not.toContain(`:${port}`);
  });

  onOneDatabase('writes all earlier log lines, and none twice', async () => {
    const { output } = await run({ ...good(), PORT: new URL(issuer.url).port });
    const lines = linesOf(output);
    expect(lines.map(({ msg }) => msg)).toContain('Nest application successfully started');
    expect(lines.filter(({ level }) => Number(level) >= ERROR)).toEqual([lines.at(-1)]);
  });

  describe('keys that do not match the stored secrets', () => {
    const other = randomBytes(32).toString('base64');

    beforeAll(async () => {
      const first = await BuiltService.launch(onTestDatabase(`first-id:${KEY}`));
      await first.ready();
      const response = await fetch(`${first.url}${createPath()}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await issuer.sign()}` },
        body: JSON.stringify(createSystemBody({ payload: { authorization: serviceAccount() } })),
      });
      expect(response.status).toBe(201);
      await first.stop();
    });

    it.each([
      ['a missing key', `second-id:${other}`],
      ['a different key with the same id', `first-id:${other}`],
      ['a different key with the same id after a new one', `second-id:${KEY},first-id:${other}`],
    ])('%s: exits with an error that names the id but no key', async (_, keys) => {
      const { status, output } = await run(onTestDatabase(keys));
      expect([status, problemsIn(output)]).toEqual([
        EX_CONFIG,
        ['SECRETS_KEYS lacks the key first-id that stored secrets were sealed with'],
      ]);
      expect(output).not.toContain(KEY.slice(0, 12));
      expect(output).not.toContain(other.slice(0, 12));
    });

    it('starts with the old key after a new one', async () => {
      const service = await BuiltService.launch(onTestDatabase(`second-id:${other},first-id:${KEY}`));
      await service.ready();
      expect(await service.stop()).toBe(0);
    });
  });
});

/** Returns the log lines. Fails if anything else was printed. */
function linesOf(output: string): Record<string, unknown>[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Returns the invalid settings reported by a failed start. */
function problemsIn(output: string): unknown[] {
  const fatal = linesOf(output).filter(({ level }) => level === FATAL);
  expect(fatal.map(({ msg }) => msg)).toEqual(fatal.map(() => 'wrong configuration'));
  return fatal.map(({ problem }) => problem);
}

/** Returns the reason of a start that failed otherwise. */
function reasonIn(output: string): unknown {
  const fatal = linesOf(output).filter(({ level }) => level === FATAL);
  expect(fatal).toEqual([
    expect.objectContaining({ msg: 'start failed', time: expect.stringMatching(/Z$/) }),
  ]);
  return fatal[0]?.['reason'];
}

async function run(
  settings: Record<string, string | undefined>,
  entryPoint?: string,
): Promise<{ status: number; output: string }> {
  const service = await BuiltService.launch(settings, entryPoint);
  return { status: await service.ended(), output: service.output };
}
