import { createSocket } from 'node:dgram';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { DnsSource } from '../../../../src/discovery/sources/dns.source.js';
import { startDnsmasq, type Dnsmasq } from '../../../support/discovery/source-servers.js';
import { limitedEnv } from '../../../support/limits/limits.js';

const RECORDS = [
  '--srv-host=_http._tcp.svc.test,app2.svc.test,8081,20,5',
  '--srv-host=_http._tcp.svc.test,app1.svc.test,8080,10,5',
  '--txt-record=app1.svc.test,version=2.4.1,health-path=/up',
  '--srv-host=_https._tcp.svc.test,secure.svc.test,8443,0,5',
  '--srv-host=_http._tcp.other.test,db.other.test,5432,0,5',
  '--txt-record=db.other.test,kind=postgresql',
  '--txt-record=db.other.test,key=coreDb',
  '--txt-record=db.other.test,CANARY',
  '--srv-host=_http._tcp.bad.test,bad.bad.test,80,0,5',
  '--txt-record=bad.bad.test,health-path=CANARY',
  // A target of "." declares that the domain does not offer the service.
  '--srv-host=_http._tcp.none.test',
];
let server: Dnsmasq | undefined;
let obstacle = '';

beforeAll(async () => {
  try {
    server = await startDnsmasq(RECORDS);
  } catch (error) {
    obstacle = `There is no dnsmasq: ${(error as Error).message}`;
  }
});
afterAll(() => server?.stop());

const never = new AbortController().signal;
const sources = (domains: string, server: string): string =>
  JSON.stringify({ dns: { domains: domains.split(','), servers: [server] } });

function sourceOf(
  context: TestContext,
  domains: string,
  { servers, ...settings }: Record<string, string> = {},
): DnsSource {
  const address = server?.address ?? context.skip(obstacle);
  const env = limitedEnv('maintenance', {
    DISCOVERY_SOURCES: sources(domains, servers ?? address),
    ...settings,
  });
  return new DnsSource(env.get('DISCOVERY_SOURCES').dns!);
}

describe('DnsSource', () => {
  it('reads SRV records for HTTP and HTTPS, and the TXT records of their hosts', async (context) => {
    const { components, rejected } = await sourceOf(context, 'svc.test,other.test').list(never);
    expect(rejected).toEqual([]);
    expect(components.map(({ key, kind, endpoint, version }) => [key, kind, endpoint, version])).toEqual([
      ['app1', 'http', 'http://app1.svc.test:8080', '2.4.1'],
      ['app2', 'http', 'http://app2.svc.test:8081', null],
      ['secure', 'http', 'https://secure.svc.test:8443', null],
      ['coreDb', 'postgresql', 'postgresql://db.other.test:5432', null],
    ]);
    expect(components[0]).toMatchObject({ source: 'dns', options: { healthPath: '/up' } });
  });

  it('reports domains without records and invalid entries', async (context) => {
    const { components, rejected } = await sourceOf(context, 'nothing.test,none.test,bad.test').list(never);
    expect(components).toEqual([]);
    expect(rejected).toEqual([
      { key: 'nothing.test', reason: 'The domain has no SRV record.' },
      { key: 'none.test', reason: 'The domain has no SRV record.' },
      { key: 'bad', reason: expect.stringMatching(/^bad.options.healthPath must be a path/) },
    ]);
  });

  it('lists at most the maximum number of components', async (context) => {
    const source = sourceOf(context, 'svc.test', { 'discoveryLimits.components': '2' });
    const { components, rejected } = await source.list(never);
    expect(components.map(({ key }) => key)).toEqual(['app1', 'app2']);
    expect(rejected).toEqual([
      { key: 'dns', reason: 'There are more than 2 components; the rest is ignored.' },
    ]);
  });

  it('fails when the name server refuses, does not respond or has a malformed address', async (context) => {
    const refused = sourceOf(context, 'svc.test', { servers: '127.0.0.1:1' });
    await expect(refused.list(never)).rejects.toMatchObject({ failure: 'refused' });
    const wrong = sourceOf(context, 'svc.test', { servers: 'CANARY' });
    await expect(wrong.list(never)).rejects.toMatchObject({ failure: 'configuration' });
    const silent = createSocket('udp4');
    await new Promise<void>((resolve) => {
      silent.bind(0, '127.0.0.1', resolve);
    });
    const address = `127.0.0.1:${silent.address().port}`;
    const listing = sourceOf(context, 'svc.test', { servers: address }).list(AbortSignal.timeout(200));
    await expect(listing).rejects.toMatchObject({ failure: 'timeout' });
    silent.close();
  });
});
