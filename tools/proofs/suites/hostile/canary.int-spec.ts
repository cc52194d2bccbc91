import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../../support/rows.js';
import {
  connectionTestPath,
  createPath,
  createSystemBody,
  detailsPath,
  listPath,
  serviceAccount,
  systemPath,
} from '../../../../test/support/factories.js';
import { AUDIENCE, StubIssuer } from '../../../../test/support/issuer.js';
import { readBody, startHttpPeer, type Peer } from '../../../../test/support/peers/peer.js';
import { startProxy, type ProxyPeer } from '../../support/proxy.peer.js';
import { BuiltService } from '../../../../test/integration/secrets/built-service.js';

const read = promisify(execFile);
const databaseUrl = String(process.env['DATABASE_URL']);
const isEmbedded = databaseUrl.startsWith('sqlite:');
const VERSION = 'canary-version';

/** All values that must never be exposed, each unique. */
const canaries = {
  clientSecret: `canary-secret-${randomUUID()}`,
  rotatedSecret: `canary-rotated-${randomUUID()}`,
  issuedToken: `canary-token-${randomUUID()}`,
  databasePassword: `canary-password-${randomUUID()}`,
  urlPassword: `canary-url-${randomUUID()}`,
  proxyPassword: `canary-proxy-${randomUUID()}`,
  secretsKey: randomBytes(32).toString('base64'),
};

/** Requests received by the MCP server and the token endpoint. */
const arrived: string[] = [];
const hostOf = (url: string): string => new URL(url).host;

describe('secrets', () => {
  let issuer: StubIssuer;
  let service: BuiltService;
  let tokenPeer: Peer;
  let mcpPeer: Peer;
  let proxy: ProxyPeer;
  let token: string;
  let resourceId: string;
  const received: string[] = [];
  const account = `canary_${process.pid}`;

  beforeAll(async () => {
    issuer = await StubIssuer.start();
    token = await issuer.sign();
    tokenPeer = await startHttpPeer(echoingTokenEndpoint());
    mcpPeer = await startHttpPeer(echoesRequests);
    proxy = await startProxy({ credentials: `svc:${canaries.proxyPassword}` });
    service = await BuiltService.launch({
      NODE_ENV: 'test',
      LOG_LEVEL: 'debug',
      DATABASE_URL: isEmbedded ? databaseUrl : await accountWithPassword(account),
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: AUDIENCE,
      SECRETS_KEYS: `canary:${canaries.secretsKey}`,
      EGRESS_ALLOW: '127.0.0.1',
      OUTBOUND_HTTP: 'allow',
      OUTBOUND_PROXY: proxy.url.replace('://', `://svc:${canaries.proxyPassword}@`),
      OUTBOUND_NO_PROXY: 'none.invalid',
      // Unreachable proxies, since these variables must be ignored.
      HTTP_PROXY: 'http://127.0.0.1:1',
      HTTPS_PROXY: 'http://127.0.0.1:1',
      SHUTDOWN_DELAY_MS: '0',
      'outboundLimits.threadNiceness': '0',
      'mcpLimits.testTimeoutMs': '60000',
    });
    await service.ready();
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all([issuer.stop(), tokenPeer.close(), mcpPeer.close(), proxy.close()]);
    if (!isEmbedded) {
      await execute(`DROP USER '${account}'@'127.0.0.1'`);
    }
  });

  /** Sends a request and records the complete response. */
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    authorization = `Bearer ${token}`,
  ): Promise<Response> => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    received.push(JSON.stringify([...response.headers]), await response.clone().text());
    return response;
  };
  const connection = (secret = canaries.clientSecret, baseUrl = mcpPeer.url): Record<string, unknown> => ({
    baseUrl,
    authorization: serviceAccount({ clientSecret: secret, identityProviderUrl: tokenPeer.url }),
  });

  it('are used in every operation, successful or not', async () => {
    const body = createSystemBody({ payload: connection() });
    const created = await send('PATCH', createPath('app', VERSION), body);
    expect(created.status).toBe(201);
    resourceId = ((await created.json()) as { resourceId: string }).resourceId;
    expect((await send('PATCH', createPath('app', VERSION), body)).status).toBe(409);
    for (const path of [detailsPath(resourceId, 'app', VERSION), listPath('app', VERSION)]) {
      expect((await send('GET', path)).status).toBe(200);
    }
    // The token endpoint and the MCP server first return errors that contain the request, then succeed.
    for (const _ of ['500', '401', '400', 'token']) {
      const response = await send('PATCH', connectionTestPath('app', VERSION), connection());
      expect(response.status).toBe(200);
    }
    const { authorization } = connection(canaries.rotatedSecret);
    const path = systemPath(resourceId, 'app', VERSION);
    expect((await send('PATCH', path, { authorization })).status).toBe(200);
  });

  it('are sent in wrong places', async () => {
    const { clientSecret, urlPassword } = canaries;
    const bodies = [
      createSystemBody({ payload: { ...connection(), clientSecret } }),
      createSystemBody({
        payload: { ...connection(), baseUrl: `https://user:${urlPassword}@mcp.example.com/` },
      }),
      createSystemBody({ payload: { ...connection(), authorization: { type: clientSecret } } }),
      createSystemBody({ payload: { ...connection(), type: clientSecret } }),
      `{"clientSecret":"${clientSecret}"`,
    ];
    for (const body of bodies) {
      expect((await send('PATCH', createPath('app', VERSION), body)).status).toBe(400);
    }
    expect((await send('GET', listPath(), undefined, `Bearer ${token}x`)).status).toBe(401);
    expect((await send('GET', listPath(), undefined, `Basic ${clientSecret}`)).status).toBe(401);
    expect((await send('GET', `/unknown?access_token=${token}`)).status).toBe(404);
  });

  it('are used while the database fails', async () => {
    await execute('ALTER TABLE systems RENAME TO systems_away');
    try {
      const create = createSystemBody({ payload: connection() });
      expect((await send('PATCH', createPath('app', VERSION), create)).status).toBe(500);
      expect((await send('PATCH', connectionTestPath('app', VERSION), connection())).status).toBe(500);
      expect((await send('GET', detailsPath(resourceId, 'app', VERSION))).status).toBe(500);
    } finally {
      await execute('ALTER TABLE systems_away RENAME TO systems');
    }
    const row = `'svc2.canary.AAAA.AAAA.AAAA'`;
    await execute(`UPDATE systems SET client_secret = ${row} WHERE resource_id = '${resourceId}'`);
    expect((await send('PATCH', connectionTestPath('app', VERSION), connection())).status).toBe(500);
    await send('PATCH', createPath('app', VERSION), createSystemBody({ payload: connection() }));
  });

  it('are not in any response, header, metric, document or audit event', async () => {
    await send('GET', '/metrics');
    await send('GET', '/docs-json');
    const audit = await send('GET', `${createPath('app', VERSION)}/audit`);
    expect(audit.status).toBe(200);
    expect(received.length).toBeGreaterThan(30);
    expect(received.join()).toContain('client-1');
    expectNoCanary('responses', received.join('\n'));
  });

  it('are not in any table row', async () => {
    const tables = isEmbedded
      ? await rows(databaseUrl, "SELECT name AS name FROM sqlite_master WHERE type = 'table'")
      : await rows(
          databaseUrl,
          'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
        );
    expect(tables.length).toBeGreaterThan(5);
    for (const { name } of tables) {
      expectNoCanary(
        `table ${String(name)}`,
        JSON.stringify(await rows(databaseUrl, `SELECT * FROM ${String(name)}`)),
      );
    }
    const sealed = await rows(
      databaseUrl,
      "SELECT client_secret FROM systems WHERE client_secret LIKE 'svc2.canary.%'",
    );
    expect(sealed.length).toBeGreaterThan(1);
  });

  it.runIf(isEmbedded)('are not in the database files', async () => {
    const file = databaseUrl.slice('sqlite:'.length);
    const names = (await readdir(dirname(file))).filter((name) => name.startsWith(basename(file)));
    expect(names.some((name) => name.endsWith('-wal'))).toBe(true);
    for (const name of names) {
      // Read in another process, since closing an SQLite file releases the locks of this process's connections.
      const { stdout } = await read('cat', [join(dirname(file), name)], {
        encoding: 'latin1',
        maxBuffer: Infinity,
      });
      expectNoCanary(name, stdout);
    }
  });

  it('of the proxy are sent only to the proxy, which is used for external parties but not for the issuer', () => {
    expect(new Set(proxy.asked)).toEqual(new Set([hostOf(mcpPeer.url), hostOf(tokenPeer.url)]));
    expect(arrived.join()).toContain('client-1');
    for (const form of formsOf(canaries.proxyPassword)) {
      expect(arrived.join().includes(form)).toBe(false);
    }
    expect(arrived.join().toLowerCase()).not.toContain('proxy-');
  });

  it('are not in the output of the process', () => {
    expect(service.output).toContain('"msg":"request failed"');
    expect(service.output).toContain('SECRET_UNREADABLE');
    expectNoCanary('output', service.output);
  });

  function expectNoCanary(where: string, text: string): void {
    const signature = token.split('.')[2] ?? '';
    for (const [name, canary] of Object.entries({ ...canaries, bearerToken: signature })) {
      for (const form of formsOf(canary)) {
        expect(text.includes(form), `${name} in ${where}`).toBe(false);
      }
    }
  }
});

/** Returns the encodings of a value: plain, URL-encoded, hexadecimal, and base64 at each of the three alignments. */
function formsOf(value: string): string[] {
  const middle = (offset: number): string =>
    Buffer.from(' '.repeat(offset) + value)
      .toString('base64')
      .slice(4, -4);
  return [
    value,
    encodeURIComponent(value),
    Buffer.from(value).toString('hex'),
    middle(0),
    middle(1),
    middle(2),
  ];
}

/** Echoes the entire request, including secrets and tokens. */
const echoesRequests: RequestListener = (request, response) => void echo(request, response);

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const message = [request.rawHeaders, await readBody(request)].join();
  arrived.push(message);
  response.setHeader('x-echo', String(request.headers.authorization));
  sendJson(response, 500, { error: { code: -1, message } });
}

/** Fails with an echo of the request in three ways, then issues a token. */
function echoingTokenEndpoint(): RequestListener {
  const statuses = [500, 401, 401, 400];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const description = [request.rawHeaders, await readBody(request)].join();
    arrived.push(description);
    const status = statuses.shift();
    if (status === undefined) {
      sendJson(response, 200, { access_token: canaries.issuedToken, token_type: 'Bearer', expires_in: 300 });
    } else {
      const error = status === 400 ? 'invalid_request' : 'invalid_client';
      sendJson(response, status, { error, error_description: description });
    }
  };
  return (request, response) => void answer(request, response);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Returns DATABASE_URL with a new account that has a canary password. */
async function accountWithPassword(account: string): Promise<string> {
  await execute(`CREATE USER '${account}'@'127.0.0.1' IDENTIFIED BY '${canaries.databasePassword}'`);
  await execute(`GRANT ALL PRIVILEGES ON *.* TO '${account}'@'127.0.0.1'`);
  const url = new URL(databaseUrl);
  url.username = account;
  url.password = canaries.databasePassword;
  return url.href;
}

/** Runs a statement directly on the database. */
async function execute(sql: string): Promise<void> {
  if (isEmbedded) {
    const { default: LibsqlDatabase } = await import('libsql');
    const database = new LibsqlDatabase(databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
    database.exec(sql);
    database.close();
    return;
  }
  const connection = await createConnection({ uri: databaseUrl.replace(/^mariadb:/, 'mysql:') });
  await connection.query(sql);
  await connection.end();
}
