import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetch } from 'undici';
import { TestApp } from '../../support/app.js';
import { StubIssuer } from '../../support/issuer.js';
import { httpGet } from './http-get.js';

const FIRST_VIEW_MAX_BYTES = 120_000;

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}
const read = (file: string): Buffer => readFileSync(`dist/console/${file}`);
const manifest = JSON.parse(read('.vite/manifest.json').toString()) as Record<string, Chunk>;
const chunk = (name: string): Chunk => manifest[name] ?? expect.unreachable(name);

/** Returns the files that a browser loads with a chunk. */
function filesWith(name: string, seen = new Set<string>()): Set<string> {
  const { file, imports = [], css = [] } = chunk(name);
  [file, ...css].forEach((path) => seen.add(path));
  imports.forEach((each) => filesWith(each, seen));
  return seen;
}

describe('the built console', () => {
  it('transfers little data for its first page', () => {
    const files = [
      'index.html',
      ...filesWith('index.html'),
      ...filesWith('src/pages/home/home.page.tsx'),
      ...filesWith('src/app/sign-in/company.ts'),
    ];
    const bytes = [...new Set(files)].reduce((sum, file) => sum + gzipSync(read(file)).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(FIRST_VIEW_MAX_BYTES);
  });

  it('has each page in a file of its own', () => {
    const pages = Object.keys(manifest).filter((name) => /src\/pages\/.*\.page\.tsx$/.test(name));
    expect(pages).toContain('src/pages/about/about.page.tsx');
    const first = filesWith('index.html');
    expect(pages.filter((name) => first.has(chunk(name).file))).toEqual([]);
  });

  it('has no inline scripts or styles in its page', () => {
    const page = read('index.html').toString();
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
    expect(page).not.toMatch(/(src|href)="(?!\/console\/)/);
  });
});

describe('the served console', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ JOBS_CONCURRENCY: '0', CONSOLE_OIDC_CLIENT_ID: 'svc-console' });
  });
  afterAll(() => app.close());

  const get = (path: string, headers: Record<string, string> = {}) => httpGet(app.url, path, headers);
  const script = `/console/${chunk('index.html').file}`;

  it.each(['/console/', '/console/about', '/console/instances/a.b', '/console/signed-in?code=1'])(
    'shows its page at %s',
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(answer.headers['cache-control']).toMatch(/^no-cache\b/);
      expect(answer.body.toString()).toContain('<div id="console">');
      const again = await get(path, { 'if-none-match': String(answer.headers['etag']) });
      expect(again.status).toBe(304);
    },
  );

  it('restricts its page by a content security policy', async () => {
    const { headers } = await get('/console/');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "font-src 'self' data:",
      `connect-src 'self' ${app.issuer.url}`,
      `frame-src 'self' ${app.issuer.url}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    const silent = await get('/console/silent');
    expect(String(silent.headers['content-security-policy'])).toMatch(/frame-ancestors 'self'$/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('lets clients cache files with hashed names permanently', async () => {
    const plain = await get(script);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable, no-transform');
    expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
    const gzip = await get(script, { 'accept-encoding': 'gzip' });
    const br = await get(script, { 'accept-encoding': 'br, gzip' });
    expect([gzip.headers['content-encoding'], br.headers['content-encoding']]).toEqual(['gzip', 'br']);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(String(br.headers['vary'])).toContain('Accept-Encoding');
  });

  it.each([
    '/console/assets/none.js',
    '/console/assets/../../package.json',
    '/console/assets/%2e%2e/%2e%2e/package.json',
    '/console/.vite/manifest.json',
  ])('does not serve other files: %s', async (path) => {
    const { status, body } = await get(path);
    expect(body.toString()).not.toMatch(/"dependencies"|"isEntry"/);
    expect(status === 404 || body.toString().includes('<div id="console">')).toBe(true);
  });

  it('redirects browsers from the root, but no other clients', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect([browser.status, browser.headers['location']]).toEqual([302, '/console/']);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
      expect((await get('/', { accept })).status).toBe(401);
    }
    expect((await get('/')).status).toBe(401);
    expect((await get('/console')).headers['location']).toBe('/console/');
  });

  it('refuses other methods', async () => {
    expect((await fetch(`${app.url}/console/about`, { method: 'POST' })).status).toBe(404);
  });

  it('gets its settings without a token, but no secrets', async () => {
    const { status, body } = await app.request('GET', '/console/settings', { token: null });
    expect(status).toBe(200);
    expect(body).toEqual({
      issuer: app.issuer.url,
      clientId: 'svc-console',
      scope: 'openid profile',
      evaluation: false,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      documentation: '/docs',
    });
  });

  it('offers no evaluation sign-in in production', async () => {
    const answer = await fetch(`${app.url}/console/evaluation/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: app.url },
      body: JSON.stringify({ subject: 'jane.doe' }),
    });
    expect(answer.status).toBe(404);
  });
});

describe('the content security policy, if the issuer has endpoints at other origins', () => {
  const issuers: StubIssuer[] = [];
  const apps: TestApp[] = [];
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await Promise.all(issuers.map((issuer) => issuer.stop()));
  });
  const partsOf = async (
    discovery: Record<string, unknown>,
  ): Promise<{ issuer: string; parts: string[] }> => {
    const issuer = await StubIssuer.start();
    issuers.push(issuer);
    issuer.discovery = discovery;
    const app = await TestApp.start({ JOBS_CONCURRENCY: '0', OIDC_ISSUER: issuer.url });
    apps.push(app);
    await expect.poll(() => issuer.jwksRequests).toBeGreaterThan(0);
    const { headers } = await httpGet(app.url, '/console/');
    return { issuer: issuer.url, parts: String(headers['content-security-policy']).split('; ') };
  };

  it('allows connections to the token endpoints and frames of the authorization endpoint', async () => {
    const { issuer, parts } = await partsOf({
      token_endpoint: 'https://oauth2.example.net/token',
      revocation_endpoint: 'https://oauth2.example.net/revoke',
      authorization_endpoint: 'https://accounts.example.org/auth',
    });
    expect(parts).toContain(`connect-src 'self' ${issuer} https://oauth2.example.net`);
    expect(parts).toContain(`frame-src 'self' ${issuer} https://accounts.example.org`);
  });

  it('ignores malformed addresses and other endpoints', async () => {
    const { issuer, parts } = await partsOf({
      token_endpoint: "https://*;script-src'unsafe-inline'/token",
      revocation_endpoint: 'https://*.example.org/revoke',
      authorization_endpoint: 'javascript:alert(1)',
      userinfo_endpoint: 'https://elsewhere.example.org/',
    });
    expect(parts).toHaveLength(10);
    expect(parts).toContain("script-src 'self'");
    expect(parts).toContain(`connect-src 'self' ${issuer}`);
    expect(parts).toContain(`frame-src 'self' ${issuer}`);
  });
});

describe('with CONSOLE=false', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ JOBS_CONCURRENCY: '0', CONSOLE: 'false' });
  });
  afterAll(() => app.close());

  it.each(['/console', '/console/', '/console/about', '/console/settings'])(
    '%s is an unknown path',
    async (path) => {
      expect((await httpGet(app.url, path)).status).toBe(401);
      const authorization = `Bearer ${await app.tokenWith({})}`;
      expect((await httpGet(app.url, path, { authorization })).status).toBe(404);
    },
  );

  it('the root does not redirect', async () => {
    expect((await httpGet(app.url, '/', { accept: 'text/html' })).status).toBe(401);
  });
});
