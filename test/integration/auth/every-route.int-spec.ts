import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/openapi.js';
import { TestApp } from '../../support/app.js';
import { signingKey, type SigningKey } from '../../support/issuer.js';
import { BAD_TOKENS } from './bad-tokens.js';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly permission: string | undefined;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const BROKEN_BODY = { rawBody: '{"', headers: { 'content-type': 'application/json' } };

let folder: string;
let app: TestApp;
let rsaKey: SigningKey;
let operations: Operation[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-auth-'));
  app = await TestApp.start({
    DATABASE_URL: `sqlite:${join(folder, 'auth.sqlite')}`,
    'tokenLimits.jwksCooldownSeconds': '1',
  });
  rsaKey = await signingKey('RS256');
  app.issuer.keys = [rsaKey, ...app.issuer.keys];
  operations = guardedOperations();
});
afterAll(async () => {
  await app?.close();
  await rm(folder, { recursive: true });
});

/** Returns every operation of the OpenAPI document that requires a token, with a placeholder for path parameters. */
function guardedOperations(): Operation[] {
  return Object.entries(buildOpenApi(app.nest).paths).flatMap(([template, item]) =>
    METHODS.flatMap((method) => {
      const operation = (item as Record<string, unknown>)[method] as
        { security?: unknown[]; 'x-permission'?: string } | undefined;
      return operation?.security?.length
        ? [{ method, path: template.replaceAll(/\{[^}]+\}/g, 'x'), permission: operation['x-permission'] }]
        : [];
    }),
  );
}

/** Returns a malformed body for methods that have one, so that parsing it would be answered 400. */
const brokenBody = (method: string): object => (method === 'get' ? {} : BROKEN_BODY);

describe('every guarded route', () => {
  it('is found in the OpenAPI document', () => {
    expect(operations.length).toBeGreaterThanOrEqual(7);
  });

  // `bad-credentials` covers each kind of bad token on one route.
  it.each([
    ['no token', () => Promise.resolve(null)] as const,
    ...Object.entries(BAD_TOKENS).filter(([name]) =>
      ['expired', 'a flipped byte in the signature'].includes(name),
    ),
  ])('answers 401 before it parses the body: %s', async (_name, make) => {
    const token = await make({ issuer: app.issuer, rsaKey });
    const answers = await Promise.all(
      operations.map(({ method, path }) =>
        app.request(method.toUpperCase(), path, { token, ...brokenBody(method) }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(answers.map(({ headers }) => challengeIn(headers)))).toEqual(
      new Set([token === null ? 'Bearer' : 'Bearer error="invalid_token"']),
    );
  });

  it.each([
    ['integration-management', 7, 'Insufficient permissions to access Integration Management'],
    ['application-delivery', 9, 'Insufficient permissions to deliver applications'],
    ['process-read', 2, 'Insufficient permissions to read process data'],
    ['workflow-test', 1, 'Insufficient permissions to test workflows'],
    ['tool-call', 1, 'Insufficient permissions to call tools'],
    ['tool-use', 1, 'Insufficient permissions to use the tools of the application'],
  ])('that needs %s answers 403 without it, before it parses the body', async (name, least, message) => {
    const token = await app.tokenWith({ scope: 'openid' });
    const guarded = operations.filter(({ permission }) => permission === name);
    expect(guarded.length).toBeGreaterThanOrEqual(least);
    for (const { method, path } of guarded) {
      const answer = await app.request(method.toUpperCase(), path, { token, ...brokenBody(method) });
      expect({ method, path, status: answer.status, message: answer.body['message'] }).toEqual({
        method,
        path,
        status: 403,
        message,
      });
    }
  });
});

/** MCP endpoints add where their metadata is. */
function challengeIn(headers: Headers): string | undefined {
  return headers.get('www-authenticate')?.replace(/,? resource_metadata="[^"]*"$/, '');
}
