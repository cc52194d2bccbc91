import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EvaluationIssuer } from '../../../../src/evaluation/evaluation-issuer.js';
import type { TestControl } from '../../../../src/evaluation/test-control.js';
import { TokenSocket } from '../../../../src/evaluation/token-socket.js';
import { StubIssuer } from '../../../../test/support/issuer.js';
import {
  call,
  post,
  startGuardedApp,
  type GuardedApp,
} from '../../../../test/integration/auth/guarded-app.js';

const RULES = {
  'integration-management': [{ claim: ['realm_access', 'roles'], has: 'integration-management' }],
  'platform-discovery': [{ claim: 'scope', has: 'platform:discover' }],
};

let oidc: StubIssuer;
let evaluation: EvaluationIssuer;
let app: GuardedApp;
let production: GuardedApp;
let dataDir: string;
let socket: TokenSocket | undefined;

beforeAll(async () => {
  oidc = await StubIssuer.start();
  evaluation = await EvaluationIssuer.create(RULES);
  const settings = { PERMISSION_RULES: JSON.stringify(RULES) };
  app = await startGuardedApp({ issuerUrl: oidc.url, settings, trusted: () => evaluation.trusted });
  production = await startGuardedApp({ issuerUrl: oidc.url, settings });
});
afterAll(async () => {
  await app?.stop();
  await production?.stop();
  await oidc?.stop();
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'));
});
afterEach(async () => {
  await socket?.close();
  socket = undefined;
  await rm(dataDir, { recursive: true });
});

interface Run {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs the command of `npm run -s dev:token`. */
function devToken(...args: string[]): Promise<Run> {
  const command = ['dist/src/evaluation/dev-token.cli.js', ...args];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      command,
      { env: { ...process.env, DATA_DIR: dataDir } },
      (failure, out, error) => {
        resolve({ code: typeof failure?.code === 'number' ? failure.code : 0, out, error });
      },
    );
  });
}

describe('dev:token', () => {
  it('prints only one token with all permissions, valid for 8 hours', async () => {
    socket = await TokenSocket.open(dataDir, evaluation);
    const { code, out, error } = await devToken();
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const claims = decodeJwt(out.trim());
    expect(claims).toMatchObject({
      sub: 'jane.doe',
      given_name: 'Jane',
      family_name: 'Doe',
      aud: 'urn:svc:api',
    });
    expect(claims.exp! - claims.iat!).toBe(8 * 3_600);
    expect(claims.iss).toBe(`urn:svc:evaluation:${decodeProtectedHeader(out.trim()).kid}`);
    const answer = await call(`${app.url}/guarded`, out.trim(), post);
    expect(answer.status).toBe(201);
    expect(answer.body['permissions']).toEqual(['integration-management', 'platform-discovery']);
  });

  it('prints a token with the given subject, permission and lifetime', async () => {
    socket = await TokenSocket.open(dataDir, evaluation);
    const { out } = await devToken(
      '--sub',
      'ana.m@example.com',
      '--permission',
      'platform-discovery',
      '--ttl',
      '60',
    );
    const claims = decodeJwt(out.trim());
    expect(claims.exp! - claims.iat!).toBe(60);
    const answer = await call(`${app.url}/any-caller`, out.trim());
    expect(answer.body).toMatchObject({
      user: { firstName: 'Ana', lastName: 'M', userName: 'ana.m@example.com', impersonatingUser: null },
      permissions: ['platform-discovery'],
    });
  });

  it('prints a token with a permission defined only by a package, which other issuers cannot grant this way', async () => {
    socket = await TokenSocket.open(dataDir, evaluation);
    const names = ['platform-discovery', 'loan-clerk', 'Loan manager'];
    const { out } = await devToken(...names.flatMap((name) => ['--permission', name]));
    expect((await call(`${app.url}/any-caller`, out.trim())).body['permissions']).toEqual(names);
    const claims = { 'urn:svc:evaluation:permissions': ['loan-clerk'] };
    const foreign = await call(`${production.url}/any-caller`, await oidc.sign({ ...claims, sub: 'eve' }));
    expect(foreign.body['permissions']).toEqual([]);
  });

  it('prints a token without permissions for --permission none', async () => {
    socket = await TokenSocket.open(dataDir, evaluation);
    const { out } = await devToken('--permission', 'none');
    expect((await call(`${app.url}/guarded`, out.trim(), post)).status).toBe(403);
    expect((await call(`${app.url}/any-caller`, out.trim())).body['permissions']).toEqual([]);
  });

  it.each([
    [
      ['--permission', 'fly,run'],
      1,
      '"fly,run" cannot be a permission: a name has 1 to 64 characters and no comma.',
    ],
    [['--ttl', '0'], 1, '--ttl must be at least 1 second'],
    [['--ttl', '90000'], 1, '--ttl must be at most 86400 seconds'],
    [['--sub', ''], 1, '--sub must have 1 to 255 printable characters'],
    [['--ttl', 'soon'], 2, '--ttl must be a whole number of seconds'],
    [
      ['--permission', 'none', '--permission', 'platform-discovery'],
      2,
      '--permission none cannot be combined',
    ],
    [['--role', 'x'], 2, "Unknown option '--role'"],
    [['extra'], 2, "Unexpected argument 'extra'"],
  ])('reports what is wrong with %j', async (args, status, message) => {
    socket = await TokenSocket.open(dataDir, evaluation);
    const { code, out, error } = await devToken(...args);
    expect({ code, out }).toEqual({ code: status, out: '' });
    expect(error).toContain(message);
  });

  it('explains how to start a server when none is running', async () => {
    const { code, out, error } = await devToken();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toContain('Start one with "npm run dev"');
  });
});

/** Sends a request to a new token socket. */
async function askSocket(
  path: string,
  order: string,
  control?: TestControl,
): Promise<{ status: number | undefined; text: string }> {
  socket = await TokenSocket.open(dataDir, evaluation);
  socket.control = control;
  const file = await readFile(join(dataDir, 'evaluation.json'), 'utf8');
  const { socket: socketPath } = JSON.parse(file) as { socket: string };
  try {
    return await new Promise((resolve, reject) => {
      request({ socketPath, method: 'POST', path }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () => resolve({ status: response.statusCode, text }));
      })
        .once('error', reject)
        .end(order);
    });
  } finally {
    await socket.close();
  }
}

describe('the token socket', () => {
  it('is accessible only to its owner and removed with the server', async () => {
    socket = await TokenSocket.open(dataDir, evaluation);
    const file = join(dataDir, 'evaluation.json');
    const { socket: path } = JSON.parse(await readFile(file, 'utf8')) as { socket: string };
    const modes = await Promise.all(
      [file, path, dirname(path)].map(async (name) => (await stat(name)).mode & 0o777),
    );
    expect(modes).toEqual([0o600, 0o600, 0o700]);
    await socket.close();
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await expect(stat(dirname(path))).rejects.toThrow('ENOENT');
  });

  it('rejects clock requests when the clock is not controlled', async () => {
    const order = JSON.stringify({ to: '2040-01-01T00:00:00Z', timeoutMs: 1_000 });
    expect(await askSocket('/clock', order)).toMatchObject({ status: 400 });
    expect(await askSocket('/settle', order)).toMatchObject({ status: 400 });
  });

  it.each([
    ['/', '{', 400, 'The request is not JSON.'],
    ['/', 'x'.repeat(1_048_577), 400, 'The request is longer than 1048576 characters.'],
    ['/clock', '{', 400, 'The request is not JSON.'],
    ['/clock', '{}', 500, 'The request failed.'],
  ])('reports what is wrong with a request to %s', async (path, order, status, text) => {
    const handle = (): Promise<never> => Promise.reject(new Error('the database is away'));
    expect(await askSocket(path, order, { handle } as unknown as TestControl)).toEqual({ status, text });
  });

  it('rejects the data folder of a running server without affecting that server', async () => {
    socket = await TokenSocket.open(dataDir, evaluation);
    await expect(TokenSocket.open(dataDir, evaluation)).rejects.toThrow(
      /Another evaluation server \(process \d+\)/,
    );
    expect((await devToken()).code).toBe(0);
  });

  it.each([
    ['a killed server', JSON.stringify({ socket: '/nowhere/token.sock', issuer: 'urn:x', pid: 1 })],
    ['a half-written file', '{"socket":'],
  ])('takes over the folder after %s', async (_name, content) => {
    await writeFile(join(dataDir, 'evaluation.json'), content);
    socket = await TokenSocket.open(dataDir, evaluation);
    expect((await devToken()).code).toBe(0);
  });
});

describe('an evaluation token', () => {
  it('is rejected in production', async () => {
    const token = await evaluation.mint({ subject: 'jane', permissions: 'all', ttlSeconds: 60 });
    expect((await call(`${production.url}/guarded`, token, post)).status).toBe(401);
  });

  it('is rejected by another evaluation server', async () => {
    const other = await EvaluationIssuer.create(RULES);
    const token = await other.mint({ subject: 'jane', permissions: 'all', ttlSeconds: 60 });
    expect((await call(`${app.url}/guarded`, token, post)).status).toBe(401);
  });

  it('is rejected by another process with the same name', async () => {
    const [one, other] = await Promise.all(
      ['a', 'a'].map((folderKey) => EvaluationIssuer.create(RULES, { folderKey })),
    );
    expect(one!.name).toBe(other!.name);
    expect((await EvaluationIssuer.create(RULES, { folderKey: 'b' })).name).not.toBe(one!.name);
    await expect(
      other!.keyFor({
        kid: decodeProtectedHeader(await one!.mint({ subject: 'jane', permissions: 'all', ttlSeconds: 60 }))
          .kid!,
      }),
    ).rejects.toThrow();
  });

  it('is the only kind of token that an evaluation server accepts', async () => {
    expect((await call(`${app.url}/guarded`, await oidc.sign(), post)).status).toBe(401);
  });
});
