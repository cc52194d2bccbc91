import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TlsMaterial } from '../../../src/platform/tls/tls-material.js';
import type { DiscoveredTool } from '../../../src/systems/mcp-connection/model/connection-test.types.js';
import { startTlsFront } from '../../support/discovery/tls-servers.js';
import { CertificateAuthority, type TlsCertificate } from '../../support/peers/certificates.js';
import {
  connectionService,
  noAuth,
  serviceAccount,
  callOf,
  stopServices,
  toolCallsService,
} from '../../support/peers/mcp-services.js';
import { type ModernPeer, startModernPeer } from '../../support/peers/official.peers.js';
import { startTokenPeer, type TokenPeer } from '../../support/peers/token.peer.js';

const portOf = (url: string): number => Number(new URL(url).port);

describe('certificates of a system', () => {
  let authority: CertificateAuthority;
  let stranger: CertificateAuthority;
  let client: TlsCertificate;
  let peer: ModernPeer;
  let tokens: TokenPeer;
  const urls: Record<string, string> = {};
  const fronts: { close(): Promise<unknown> }[] = [];

  const front = async (path: string, plainUrl: string, tls: TlsCertificate & { requestCert?: boolean }) => {
    const { port, close } = await startTlsFront(portOf(plainUrl), { ...tls, ca: authority.cert });
    fronts.push({ close });
    return `https://127.0.0.1:${port}${path}`;
  };

  beforeAll(async () => {
    [authority, stranger] = await Promise.all([
      CertificateAuthority.create(),
      CertificateAuthority.create('Stranger'),
    ]);
    client = await authority.issue({ name: 'agent' });
    const server = await authority.issue();
    tokens = await startTokenPeer();
    peer = await startModernPeer([{ name: 'echo' }]);
    const guarded = await startModernPeer([{ name: 'echo' }], (token) => tokens.valid.has(token ?? ''));
    fronts.push(guarded);
    urls['private'] = await front('/mcp', peer.url, server);
    urls['mutual'] = await front('/mcp', peer.url, { ...server, requestCert: true });
    urls['guarded'] = await front('/mcp', guarded.url, { ...server, requestCert: true });
    urls['expired'] = await front('/mcp', peer.url, await authority.issue({ days: -1 }));
    urls['otherName'] = await front('/mcp', peer.url, await authority.issue({ altNames: 'DNS:elsewhere' }));
    urls['token'] = await front('/token', tokens.url, { ...server, requestCert: true });
  });
  afterAll(async () => {
    await stopServices();
    await Promise.all([peer, tokens, ...fronts].map((each) => each.close()));
    await Promise.all([authority.close(), stranger.close()]);
  });

  const test = async (url: string | undefined, tls?: TlsMaterial) => {
    const result = await connectionService().test({ ...noAuth(url ?? ''), ...(tls && { tls }) });
    return result.outcome === 'connected' ? 'connected' : result.cause;
  };
  const ca = () => ({ ca: authority.cert });
  const both = () => ({ ...ca(), ...client });

  it.each<[string, string, () => TlsMaterial | undefined, string]>([
    ['an authority of its own', 'private', ca, 'connected'],
    ['an unknown authority', 'private', () => undefined, 'tls'],
    ['another authority than that of the system', 'private', () => ({ ca: stranger.cert }), 'tls'],
    ['one of two authorities', 'private', () => ({ ca: stranger.cert + authority.cert }), 'connected'],
    ['an expired certificate', 'expired', ca, 'tls'],
    ['a certificate for another host', 'otherName', ca, 'tls'],
  ])('a server with %s (%s)', async (_what, server, tls, outcome) => {
    expect(await test(urls[server], tls())).toBe(outcome);
  });

  it('presents its certificate to a server that requests it, and is refused with another or none', async () => {
    const [expired, foreign] = await Promise.all([
      authority.issue({ name: 'agent', days: -1 }),
      stranger.issue({ name: 'agent' }),
    ]);
    expect(await test(urls['mutual'], both())).toBe('connected');
    for (const tls of [ca(), { ...ca(), ...expired }, { ...ca(), ...foreign }]) {
      expect(await test(urls['mutual'], tls)).toMatch(/^(tls|network)$/);
    }
  });

  it('trusts an authority only for the system that configures it', async () => {
    const service = connectionService();
    const outcome = async (tls?: TlsMaterial) =>
      (await service.test({ ...noAuth(urls['private'] ?? ''), ...(tls && { tls }) })).outcome;
    expect(await outcome(ca())).toBe('connected');
    expect(await outcome()).toBe('unreachable');
    const all = await Promise.all([outcome(ca()), outcome(), outcome({ ca: stranger.cert }), outcome(ca())]);
    expect(all).toEqual(['connected', 'unreachable', 'unreachable', 'connected']);
  });

  it('uses authority and client certificate at the token endpoint, too', async () => {
    const request = serviceAccount(urls['guarded'] ?? '', urls['token'] ?? '');
    const service = connectionService();
    expect(await service.test({ ...request, tls: both() })).toMatchObject({ outcome: 'connected' });
    // Systems with other certificates do not share the token, although account and endpoint are the same.
    const before = tokens.requests.length;
    for (const tls of [ca(), undefined]) {
      const result = await service.test({ ...request, ...(tls && { tls }) });
      expect(result).toMatchObject({
        outcome: 'unreachable',
        cause: expect.stringMatching(/^token_(tls|network)$/),
      });
    }
    expect(tokens.requests).toHaveLength(before);
  });

  it('reuses a connection only for calls with the same certificates', async () => {
    const tested = await connectionService().test({ ...noAuth(urls['mutual'] ?? ''), tls: both() });
    const [tool] = tested.outcome === 'connected' ? tested.tools : [];
    const service = toolCallsService();
    const call = (tls?: TlsMaterial) =>
      service.callTool(callOf(urls['mutual'] ?? '', tool as DiscoveredTool, tls && { tls }));
    expect(await call(both())).toMatchObject({ outcome: 'answered' });
    for (const tls of [ca(), { ca: stranger.cert, ...client }, undefined]) {
      expect(await call(tls)).toMatchObject({
        outcome: 'failed',
        cause: expect.stringMatching(/^(tls|network)$/),
        sent: 'never',
      });
    }
    expect(await call(both())).toMatchObject({ outcome: 'answered' });
  });
});
