import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StubIssuer } from '../../../../test/support/issuer.js';

const SERVER = 'dist/src/evaluation/main.js';
const PRODUCTION = 'dist/src/main.js';
const DEV_TOKEN = 'dist/src/evaluation/dev-token.cli.js';
let dataDir: string;
const running: ChildProcess[] = [];

async function makeFolder(): Promise<void> {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-data-'));
}

async function endAll(): Promise<void> {
  await Promise.all(running.splice(0).map((child) => end(child, 'SIGKILL')));
  await rm(dataDir, { recursive: true, force: true });
}

interface Run {
  readonly child: ChildProcess;
  /** Returns everything printed so far. */
  readonly text: () => string;
  readonly exit: Promise<number | NodeJS.Signals | null>;
}

/** Starts a built program without this process's settings. */
function run(program: string, settings: Record<string, string> = {}, args: string[] = []): Run {
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: process.env['PATH'],
      TMPDIR: dataDir,
      DATA_DIR: dataDir,
      PORT: '0',
      SHUTDOWN_DELAY_MS: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
  }
  const exit = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  return { child, text: () => printed, exit };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill(signal);
    await closed;
  }
}

/** Starts the server and waits until it prints its URL. */
async function startServer(settings: Record<string, string> = {}): Promise<{ url: string; server: Run }> {
  const server = run(SERVER, settings);
  const url = await new Promise<string>((resolve, reject) => {
    server.child.stdout?.on('data', () => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(server.text())?.[0];
      if (found) {
        resolve(found);
      }
    });
    void server.exit.then((code) => reject(new Error(`ended with ${code}: ${server.text()}`)));
  });
  return { url, server };
}

async function token(...args: string[]): Promise<string> {
  const cli = run(DEV_TOKEN, {}, args);
  expect(await cli.exit).toBe(0);
  return cli.text().trim();
}

const listPath =
  '/appmanager/api/resource/app/a/app-version/v/rt/system/include-dep-res/integration/api/systems/all/info';
const statusOf = async (url: string, bearer: string): Promise<number> =>
  (await fetch(url + listPath, { headers: { authorization: `Bearer ${bearer}` } })).status;

const answering = (script: string, answers: string): Promise<void> =>
  writeFile(script, JSON.stringify({ model: 'scripted', rules: [{ when: { prompt: 'Hello' }, answers }] }));

/** Calls the runtime as a caller without permissions. */
async function call(url: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const bearer = await token('--permission', 'none');
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/rtm/api/runtime/${path}`, {
    headers: { ...headers, 'svc-platform': 'test' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return { ...((await answer.json()) as object), iss: decodeJwt(bearer).iss };
}

/** Tests share a server, since starting takes longest. Each continues from the state that the previous one left. */
describe('the evaluation server', () => {
  let url: string;
  let server: Run;
  let script: string;
  let started: Record<string, unknown>;
  const modelUrl = (): string => String(/scripted, (http:\S+)/.exec(server.text())?.[1]);

  beforeAll(async () => {
    await makeFolder();
    script = join(dataDir, 'script.json');
    ({ url, server } = await startServer());
  });
  afterAll(endAll);

  it('accepts tokens of dev:token', async () => {
    expect(await statusOf(url, await token())).toBe(200);
    expect(await statusOf(url, await token('--permission', 'none'))).toBe(403);
  });

  it('does not share its data folder', async () => {
    const second = run(SERVER);
    expect(await second.exit).toBe(1);
    expect(second.text()).toContain('Another evaluation server');
    expect(await statusOf(url, await token())).toBe(200);
  });

  it('issues tokens that a production server with the same data folder rejects', async () => {
    const issuer = await StubIssuer.start();
    const production = run(PRODUCTION, {
      NODE_ENV: 'test', // permits production code on the embedded database
      HOST: '127.0.0.1',
      DATABASE_URL: `sqlite:${join(dataDir, 'production.sqlite')}`,
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'urn:svc:api',
      SECRETS_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    });
    const port = await new Promise<number>((resolve, reject) => {
      production.child.stdout?.on('data', () => {
        const found = /"port":(\d+)/.exec(production.text())?.[1];
        if (found) {
          resolve(Number(found));
        }
      });
      void production.exit.then((code) => reject(new Error(`ended with ${code}: ${production.text()}`)));
    });
    const other = `http://127.0.0.1:${port}`;
    expect(await statusOf(other, await issuer.sign())).toBe(200);
    expect(await statusOf(other, await token())).toBe(401);
    await end(production.child, 'SIGKILL');
    await issuer.stop();
  });

  it('starts a scripted model', async () => {
    const models = await fetch(`${modelUrl()}/models`);
    expect(await models.json()).toMatchObject({ data: [{ id: 'scripted' }] });
  });

  it('serves tokens and models until it stops', async () => {
    const { buildId } = await call(url, 'app/sample/build/info');
    const path = `app/sample/build/${String(buildId)}/process-name/loan_onboarding/start`;
    started = await call(url, path, { client: { name: 'Ada' } });
    await end(server.child, 'SIGTERM');
    await expect(access(join(dataDir, 'evaluation.json'))).rejects.toThrow('ENOENT');
    await expect(fetch(`${modelUrl()}/models`)).rejects.toThrow('fetch failed');
    const cli = run(DEV_TOKEN);
    expect(await cli.exit).toBe(1);
    expect(cli.text()).toContain('npm run dev');
  });

  it('keeps users and their tasks in its data folder across a restart', async () => {
    await answering(script, 'one');
    ({ url, server } = await startServer({ EVALUATION_MODEL_SCRIPT: script }));
    const { iss, uuid } = started;
    expect(await call(url, 'task')).toMatchObject({ iss, tasks: [{ processInstanceUuid: uuid }] });
  });

  it('reloads a changed script without a restart, and prints which rule is missing', async () => {
    const ask = async (content: string) => {
      const body = JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content }] });
      return (await fetch(`${modelUrl()}/chat/completions`, { method: 'POST', body })).text();
    };
    expect(await ask('Hello')).toContain('"content":"one"');
    await answering(script, 'two');
    expect(await ask('Hello')).toContain('"content":"two"');
    expect(await ask('Goodbye')).toContain('"code":"no_rule"');
    await writeFile(script, '{');
    expect(await ask('Hello')).toContain('script.json is not a valid script: line 1: not JSON.');
    const message = 'scripted model: script.json is not a valid script: line 1: not JSON.';
    await expect.poll(server.text).toContain(message);
    expect(server.text()).toMatch(
      /^scripted model: No rule of the script matches this request\. .* message: "Goodbye"\./m,
    );
  });

  it('takes over the data folder of a killed server, and starts no model if one is configured', async () => {
    const old = await token();
    await end(server.child, 'SIGKILL');
    const next = await startServer({ LLM_BASE_URL: 'https://models.example.com/v1' });
    expect(await statusOf(next.url, old)).toBe(401);
    expect(await statusOf(next.url, await token())).toBe(200);
    expect(next.server.text()).toContain('Language model     LLM_BASE_URL\n');
  });
});

describe('the evaluation server does not start', () => {
  beforeEach(makeFolder);
  afterEach(endAll);

  it('if its port is taken, names the setting, and leaves no files behind', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const server = run(SERVER, { PORT: String(port) });
    expect(await server.exit).toBe(1);
    holder.close();

    expect(server.text()).toContain('PORT');
    const left = await readdir(dataDir);
    expect(left.filter((name) => !name.startsWith('svc.sqlite') && name !== 'secrets.key')).toEqual([]);
  });

  it('if the data folder is unusable, and names the setting without its value', async () => {
    const file = join(dataDir, 'canary');
    await writeFile(file, '');
    const server = run(SERVER, { DATA_DIR: file });
    expect({ status: await server.exit, text: server.text() }).toEqual({
      status: 1,
      text: 'DATA_DIR names a folder that cannot be used: EEXIST\n',
    });
    expect(await readdir(dataDir)).toEqual(['canary']);
  });

  it('with an invalid script, names the setting, and leaves no files behind', async () => {
    const script = join(dataDir, 'script.json');
    await writeFile(script, '{}');
    const server = run(SERVER, { EVALUATION_MODEL_SCRIPT: script });
    expect({ status: await server.exit, text: server.text() }).toEqual({
      status: 1,
      text: expect.stringMatching(/^EVALUATION_MODEL_SCRIPT is not a valid script \(model: /) as unknown,
    });
    await expect(access(join(dataDir, 'evaluation.json'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['NODE_ENV', 'production'],
    ['OIDC_ISSUER', 'https://sso.example.com'],
    ['OIDC_AUDIENCE', 'urn:svc:api'],
    ['DATABASE_URL', 'mysql://user:password@db.example.com/svc'],
  ])('with %s, and issues no tokens', async (name, value) => {
    const server = run(SERVER, { [name]: value });
    expect({ status: await server.exit, text: server.text() }).toEqual({
      status: 78,
      text: `Wrong configuration:\n  ${name} must not be ${name === 'NODE_ENV' ? 'production' : 'set'} in evaluation mode\n`,
    });
    await expect(access(join(dataDir, 'evaluation.json'))).rejects.toThrow('ENOENT');
  });
});

describe('the production server', () => {
  beforeEach(makeFolder);
  afterEach(endAll);

  it.each([
    ['nothing', {}],
    ['only NODE_ENV', { NODE_ENV: 'development' }],
    ['everything but the issuer', { DATABASE_URL: 'sqlite:x', OIDC_AUDIENCE: 'a' }],
    [
      'an issuer that is not a URL',
      { OIDC_ISSUER: 'urn:svc:evaluation:thumbprint', OIDC_AUDIENCE: 'urn:svc:api' },
    ],
  ])('does not start with %s set', async (_name, settings) => {
    const server = run(PRODUCTION, settings);
    expect(await server.exit).toBe(78);
    expect(server.text()).toContain('OIDC_ISSUER');
  });
});
