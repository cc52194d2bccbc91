import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TlsMaterial } from '../../../../src/platform/tls/tls-material.js';
import type { DiscoveredTool } from '../../../../src/systems/mcp-connection/model/connection-test.types.js';
import { ServiceAccountTokensService } from '../../../../src/systems/mcp-connection/service-account-tokens.service.js';
import { startTlsFront } from '../../../../test/support/discovery/tls-servers.js';
import { CertificateAuthority } from '../../../../test/support/peers/certificates.js';
import {
  connectionService,
  noAuth,
  serviceAccount,
  callOf,
  stopServices,
  toolCallsService,
} from '../../../../test/support/peers/mcp-services.js';
import { type ModernPeer, startModernPeer } from '../../../../test/support/peers/official.peers.js';
import { noSocketsLeft } from '../../../../test/support/peers/peer.js';
import { type ProxyPeer, startProxy } from '../../support/proxy.peer.js';
import { startTokenPeer, type TokenPeer } from '../../../../test/support/peers/token.peer.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const hostOf = (url: string): string => new URL(url).host;

describe('calls through OUTBOUND_PROXY', () => {
  let authority: CertificateAuthority;
  let peer: ModernPeer;
  let tokens: TokenPeer;
  let front: Awaited<ReturnType<typeof startTlsFront>>;
  let secureUrl: string;
  let proxy: ProxyPeer;
  let secureProxy: ProxyPeer;
  const file = join(tmpdir(), `svc-proxy-${process.pid}.pem`);

  beforeAll(async () => {
    authority = await CertificateAuthority.create();
    const server = await authority.issue();
    tokens = await startTokenPeer();
    peer = await startModernPeer([{ name: 'echo' }]);
    front = await startTlsFront(Number(new URL(peer.url).port), server);
    secureUrl = `https://127.0.0.1:${front.port}/mcp`;
    proxy = await startProxy();
    secureProxy = await startProxy({ credentials: 'ag ent:p@ss' }, server);
    await writeFile(file, authority.cert);
  });
  afterAll(async () => {
    await stopServices();
    await Promise.all([peer, tokens, front, proxy, secureProxy, authority].map((each) => each.close()));
    await rm(file);
  });
  beforeEach(() => {
    proxy.asked.length = 0;
    secureProxy.asked.length = 0;
    delete proxy.script.answer;
    delete proxy.script.names;
  });

  const settings = (more: Record<string, string> = {}) => ({
    OUTBOUND_PROXY: proxy.url,
    OUTBOUND_NO_PROXY: 'none.invalid',
    ...more,
  });
  const outcome = async (url: string, more: Record<string, string> = {}, tls?: TlsMaterial) => {
    const service = connectionService(settings(more));
    const result = await service.test({ ...noAuth(url), ...(tls && { tls }) });
    return result.outcome === 'connected' ? 'connected' : result.cause;
  };

  it('use CONNECT for http and https, with the certificates of the system', async () => {
    expect(await outcome(peer.url)).toBe('connected');
    expect(new Set(proxy.asked)).toEqual(new Set([hostOf(peer.url)]));
    proxy.asked.length = 0;
    expect(await outcome(secureUrl, {}, { ca: authority.cert })).toBe('connected');
    expect(await outcome(secureUrl)).toBe('tls');
    expect(new Set(proxy.asked)).toEqual(new Set([hostOf(secureUrl)]));
    await noSocketsLeft(proxy);
  });

  it('support an https proxy with credentials', async () => {
    const url = secureProxy.url.replace('://', '://ag%20ent:p%40ss@');
    const more = { OUTBOUND_PROXY: url, TLS_CA_FILE: file };
    expect(await outcome(peer.url, more)).toBe('connected');
    expect(await outcome(secureUrl, more, { ca: authority.cert })).toBe('connected');
    expect(secureProxy.asked.length).toBeGreaterThan(1);
    expect(await outcome(peer.url, { ...more, OUTBOUND_PROXY: secureProxy.url })).toBe('proxy_auth');
    expect(await outcome(peer.url, { OUTBOUND_PROXY: url })).toBe('proxy');
    await noSocketsLeft(secureProxy);
  });

  it('include tool calls and token requests', async () => {
    const tested = await connectionService().test(noAuth(peer.url));
    const [tool] = tested.outcome === 'connected' ? tested.tools : [];
    const calls = toolCallsService(settings());
    expect(await calls.callTool(callOf(peer.url, tool as DiscoveredTool))).toMatchObject({
      outcome: 'answered',
    });
    const request = serviceAccount(peer.url, tokens.url);
    expect(await connectionService(settings()).test(request)).toMatchObject({ outcome: 'connected' });
    expect(new Set(proxy.asked)).toEqual(new Set([hostOf(peer.url), hostOf(tokens.url)]));
    proxy.script.answer = (socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    expect(await calls.callTool(callOf(secureUrl, tool as DiscoveredTool))).toMatchObject({
      cause: 'proxy_refused',
      sent: 'never',
    });
    expect(await connectionService(settings()).test(serviceAccount(peer.url, tokens.url))).toMatchObject({
      cause: 'token_proxy_refused',
    });
    expect(() => new ServiceAccountTokensService(limitedEnv('evaluation', settings()))).not.toThrow();
    // The warm session keeps a stream open through the proxy.
    await stopServices();
  });

  it.each<[string, string, (socket: import('node:net').Socket) => void]>([
    ['returns 502', 'proxy_refused', (socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\nforeign words')],
    ['returns 407', 'proxy_auth', (socket) => socket.end('HTTP/1.1 407 No\r\n\r\n')],
    ['is silent', 'timeout', () => undefined],
    ['hangs up', 'proxy', (socket) => socket.destroy()],
    ['is not a proxy', 'proxy', (socket) => socket.end('220 mail ready\r\n')],
    [
      'never ends its response',
      'proxy',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(40_000)}`),
    ],
    ['drips its response', 'timeout', (socket) => socket.write('HTTP/1.1 200 OK\r\nx: ')],
  ])('fail when the proxy %s (%s), and leave no socket', async (_what, cause, answer) => {
    proxy.script.answer = answer;
    expect(await outcome(peer.url, { 'outboundLimits.connectTimeoutMs': '1000' })).toBe(cause);
    await noSocketsLeft(proxy);
  });

  it('fail when the proxy is unreachable', async () => {
    expect(await outcome(peer.url, { OUTBOUND_PROXY: 'http://127.0.0.1:1' })).toBe('proxy');
  });

  it.each([
    ['http://169.254.169.254/', 'blocked'],
    ['http://10.0.0.1/', 'blocked'],
    ['http://metadata.google.internal/', 'blocked'],
    ['http://[::ffff:10.0.0.1]/', 'blocked'],
    ['http://127.0.0.1:6000/', 'port'],
  ])('are checked before the proxy is used: %s is %s', async (url, cause) => {
    for (const target of ['address', 'name']) {
      expect(await outcome(url, { OUTBOUND_PROXY_TARGET: target })).toBe(cause);
    }
    expect(proxy.asked).toEqual([]);
  });

  it('send the proxy a checked address, or with OUTBOUND_PROXY_TARGET=name the host name', async () => {
    const { port } = new URL(peer.url);
    const url = `http://localhost:${port}/mcp`;
    proxy.script.names = { localhost: '127.0.0.1', 'only-the-proxy.invalid': '127.0.0.1' };
    await outcome(url);
    expect(new Set(proxy.asked.map((asked) => asked.replace('[::1]', '127.0.0.1')))).toEqual(
      new Set([`127.0.0.1:${port}`]),
    );
    proxy.asked.length = 0;
    expect(await outcome(url, { OUTBOUND_PROXY_TARGET: 'name' })).toBe('connected');
    expect(new Set(proxy.asked)).toEqual(new Set([`localhost:${port}`]));

    proxy.asked.length = 0;
    const unknown = `http://only-the-proxy.invalid:${port}/mcp`;
    expect(await outcome(unknown)).toBe('dns');
    expect(proxy.asked).toEqual([]);
    expect(await outcome(unknown, { OUTBOUND_PROXY_TARGET: 'name' })).toBe('connected');
  });

  it('bypass the proxy for OUTBOUND_NO_PROXY', async () => {
    const { port } = new URL(peer.url);
    for (const direct of ['127.0.0.0/8', `127.0.0.1:${port}`]) {
      expect(await outcome(peer.url, { OUTBOUND_NO_PROXY: direct })).toBe('connected');
    }
    for (const direct of ['localhost', '.localhost', 'LOCALHOST', `.localhost:${port}`]) {
      await outcome(`http://localhost:${port}/mcp`, { OUTBOUND_NO_PROXY: direct });
    }
    expect(proxy.asked).toEqual([]);
    expect(await outcome(peer.url, { OUTBOUND_NO_PROXY: '127.0.0.1:1' })).toBe('connected');
    expect(proxy.asked.length).toBeGreaterThan(0);
  });

  it.each([
    ['OUTBOUND_PROXY', 'socks5://user:canary@proxy'],
    ['OUTBOUND_PROXY', 'http://user:canary@proxy/path'],
    ['OUTBOUND_PROXY', 'http://user:%canary@proxy'],
    ['OUTBOUND_NO_PROXY', 'can ary'],
    ['TLS_CA_FILE', '/canary'],
    ['OUTBOUND_PROXY_TARGET', 'canary'],
  ])('prevent the start with an invalid %s, which is named without its value', (name, value) => {
    const start = () =>
      new ServiceAccountTokensService(limitedEnv('evaluation', settings({ [name]: value })));
    expect(start).toThrow(name);
    expect(start).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/canary|can ary/) }));
  });
});
