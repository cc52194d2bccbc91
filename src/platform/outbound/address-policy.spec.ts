import { describe, expect, it } from 'vitest';

import { AddressPolicy } from './address-policy.js';
import { OutboundError } from './outbound.error.js';

const failureOf = (policy: AddressPolicy, url: string): string => {
  try {
    policy.checkUrl(new URL(url));
    return 'allowed';
  } catch (error) {
    return error instanceof OutboundError ? error.failure : 'another error';
  }
};

const strict = new AddressPolicy({ allow: [], allowLoopback: false });
const evaluation = new AddressPolicy({ allow: [], allowLoopback: true });

describe('AddressPolicy', () => {
  it.each([
    'http://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://example.com/mcp',
    'http://localhost:3000/',
  ])('accepts %s before name resolution', (url) => {
    expect(failureOf(strict, url)).toBe('allowed');
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://example.com/',
    'ws://example.com/',
    'data:text/plain,x',
    'http://user@example.com/',
    'http://user:password@example.com/',
  ])('rejects the scheme or the credentials of %s', (url) => {
    expect(failureOf(evaluation, url)).toBe('protocol');
  });

  it.each([
    'http://mcp.example.com:6000/',
    'https://mcp.example.com:10080/mcp',
    'http://mcp.example.com:0/',
    'http://93.184.215.14:1/',
    'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:6667/',
  ])('rejects the port of %s even if the allow-list contains the host', (url) => {
    const { hostname, port } = new URL(url);
    const open = new AddressPolicy({ allow: [`${hostname}:8080`, hostname], allowLoopback: true });
    expect(failureOf(strict, url)).toBe('port');
    expect(failureOf(open, url)).toBe('port');
    expect(failureOf(open, url.replace(`:${port}/`, ':8080/'))).toBe('allowed');
  });

  it('checks the address before the port', () => {
    expect(failureOf(strict, 'http://10.0.0.1:6000/')).toBe('blocked');
  });

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://①②⑦.0.0.1/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
  ])('rejects loopback as %s unless loopback is allowed', (url) => {
    expect(failureOf(strict, url)).toBe('blocked');
    expect(failureOf(evaluation, url)).toBe('allowed');
  });

  it.each([
    'http://0.0.0.0/',
    'http://[::]/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://192.0.0.1/',
    'http://192.0.2.1/',
    'http://192.88.99.1/',
    'http://198.18.0.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://[fd00::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[2001::1]/',
    'http://[2002:7f00:1::]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::1]/',
    'http://[::7f00:1]/',
    'http://[::ffff:0:7f00:1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[100::1]/',
    'http://[4000::1]/',
  ])('rejects addresses that are not globally routable: %s', (url) => {
    expect(failureOf(evaluation, url)).toBe('blocked');
  });

  it.each([
    'http://169.254.169.254/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://169.254.1.1/',
    'http://[fe80::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://168.63.129.16/',
    'http://metadata.google.internal/',
    'http://METADATA.google.internal./',
    'http://metadata.google.internal../',
    'http://169.254.169.254../',
    'http://a..example/',
  ])('rejects %s even if the allow-list contains it', (url) => {
    const open = new AddressPolicy({
      allow: ['0.0.0.0/0', '::/0', 'metadata.google.internal'],
      allowLoopback: true,
    });
    expect(failureOf(open, url)).toBe('blocked');
  });

  it.each([
    ['10.0.0.0/8', 'http://10.9.9.9:8080/', 'http://11.0.0.1.nip/', 'http://172.16.0.1/'],
    ['10.1.2.3', 'http://10.1.2.3/', 'http://10.1.2.3:99/', 'http://10.1.2.4/'],
    ['10.1.2.3:8443', 'https://10.1.2.3:8443/', 'http://10.1.2.3:8443/', 'https://10.1.2.3/'],
    ['10.0.0.0/8:80', 'http://10.1.2.3/', 'http://10.1.2.3:80/', 'https://10.1.2.3/'],
    ['fd00::/8', 'http://[fd12::1]/', 'http://[fd00::1]:8080/', 'http://[fc00::1]/'],
    ['[fd00::1]:443', 'https://[fd00::1]/', 'https://[fd00:0::1]/', 'http://[fd00::1]/'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/', 'http://127.1/', 'http://[::1]/'],
  ])('allows exactly what the entry %s covers', (entry, allowed, alsoAllowed, refused) => {
    const policy = new AddressPolicy({ allow: [entry], allowLoopback: false });
    expect([allowed, alsoAllowed, refused].map((url) => failureOf(policy, url))).toEqual([
      'allowed',
      'allowed',
      'blocked',
    ]);
  });

  it('allows a listed host name with any private address, but only on the listed port', () => {
    const policy = new AddressPolicy({ allow: ['MCP.internal:8080'], allowLoopback: false });
    const check = (address: string, host: string, port: number) => () =>
      policy.checkAddress(address, { host, port });
    expect(check('10.0.0.1', 'mcp.internal', 8_080)).not.toThrow();
    expect(check('10.0.0.1', 'mcp.internal', 80)).toThrow(OutboundError);
    expect(check('10.0.0.1', 'other.internal', 8_080)).toThrow(OutboundError);
    expect(check('169.254.169.254', 'mcp.internal', 8_080)).toThrow(OutboundError);
    expect(check('not an address', 'mcp.internal', 8_080)).toThrow(OutboundError);
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0',
    '10.0.0.1:0',
    '10.0.0.1:99999',
    'http://host/',
    '[fd00::1',
    'a b',
    '*',
    '',
  ])('throws for the invalid entry %j', (entry) => {
    expect(() => new AddressPolicy({ allow: [entry], allowLoopback: false })).toThrow(RangeError);
  });
});
