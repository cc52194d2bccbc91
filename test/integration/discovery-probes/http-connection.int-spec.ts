import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { pages, noSocketsLeft, type Peer, startHttpPeer, startHttpsPeer } from '../../support/peers/peer.js';
import { component, failureOf, runProbe } from '../../support/discovery/run-probe.js';
import { tlsCertificate } from '../../support/peers/certificates.js';
import { keptPeers } from '../../support/peers/kept-peers.js';

const HEALTHY = { '/health': { body: { status: 'ok', version: '1.0' } } };
const keep = keptPeers();

describe('the probe of http over TLS', () => {
  const [nearlyOver, fresh] = [tlsCertificate(2), tlsCertificate(90)];

  async function serve(certificate: Awaited<typeof fresh>): Promise<Peer> {
    return keep(startHttpsPeer(certificate, pages(HEALTHY)));
  }

  it('trusts the authority of the option ca, and no unknown one', async () => {
    const certificate = await fresh;
    const peer = await serve(certificate);
    const target = component('http', peer.url, { options: { ca: certificate.cert } });
    expect(await runProbe(target)).toEqual({ version: '1.0', warnings: [] });
    expect(await failureOf(component('http', peer.url))).toBe('tls');
    const other = { ...target, options: { ca: (await nearlyOver).cert } };
    expect(await failureOf(other)).toBe('tls');
    await noSocketsLeft(peer);
    await peer.close();
    expect(await failureOf(target)).toBe('refused');
    await peer.reopen();
    expect(await runProbe(target)).toEqual({ version: '1.0', warnings: [] });
  });

  it('refuses a certificate for another host', async () => {
    const certificate = await fresh;
    const peer = await serve(certificate);
    const other = peer.url.replace('127.0.0.1', 'localhost');
    expect(await failureOf(component('http', other, { options: { ca: certificate.cert } }))).toBe('tls');
  });

  it('warns when the certificate expires within a month', async () => {
    const certificate = await nearlyOver;
    const peer = await serve(certificate);
    const target = component('http', peer.url, { options: { ca: certificate.cert } });
    expect(await runProbe(target)).toEqual({
      version: '1.0',
      warnings: [{ code: 'certificate_expires', days: 1 }],
    });
  });

  it('fails for a plain service at https, and for a TLS service at http', async () => {
    const plain = await keep(startHttpPeer(pages(HEALTHY)));
    const behindHttps = component('http', plain.url.replace('http:', 'https:'));
    expect(await failureOf(behindHttps)).toBe('tls');
    const secure = await serve(await fresh);
    const behindHttp = component('http', secure.url.replace('https:', 'http:'));
    expect(['network', 'protocol']).toContain(await failureOf(behindHttp));
  });
});

describe('the probe of http', () => {
  it.each([
    [31, [{ code: 'clock_differs', seconds: 31 }]],
    [-3_600, [{ code: 'clock_differs', seconds: 3_600 }]],
    [30, []],
    [-30, []],
  ])('compares clocks: %i seconds', async (seconds, warnings) => {
    const now = new Date('2026-03-01T12:00:00.000Z');
    const date = new Date(now.getTime() + seconds * 1_000).toUTCString();
    const peer = await keep(
      startHttpPeer(pages({ '/health': { headers: { date }, body: { status: 'ok', version: '1' } } })),
    );
    const run = { now: () => now.getTime() };
    expect(await runProbe(component('http', peer.url), run)).toEqual({ version: '1', warnings });
  });

  it('does not mistake a cached answer for a wrong clock', async () => {
    const headers = { date: new Date(Date.now() - 300_000).toUTCString(), age: '300' };
    const peer = await keep(startHttpPeer(pages({ '/health': { headers, body: 'ok' } })));
    expect((await runProbe(component('http', peer.url))).warnings).toEqual([]);
  });

  it('warns of a plain connection to another host', async () => {
    const server = createServer(pages(HEALTHY));
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as AddressInfo;
    // The unspecified address reaches this host but is not a loopback address.
    const target = component('http', `http://0.0.0.0:${port}`);
    expect((await runProbe(target)).warnings).toEqual([{ code: 'plain_http' }]);
    const local = component('http', `http://localhost:${port}`);
    expect((await runProbe(local)).warnings).toEqual([]);
    await new Promise((resolve) => server.close(resolve));
  });
});
