import { createServer, type AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { KEY_AGREEMENT } from './tls-material.js';

/** Cipher suites with DHE (RFC 5288, RFC 7905), and groups of finite fields (RFC 7919), as two bytes each. */
const DHE = ['009e', '009f', 'ccaa', '0033', '0039', '0067', '006b'];
const FINITE_FIELDS = ['0100', '0101', '0102', '0103', '0104'];
const GROUPS = 10;

/** The first bytes that a client sends (RFC 8446, section 4.1.2), without the header of the record. */
async function clientHello(): Promise<Buffer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hello = new Promise<Buffer>((resolve) => {
    server.once('connection', (socket) =>
      socket.once('data', (data) => {
        resolve(data);
        socket.destroy();
      }),
    );
  });
  connect({ ...KEY_AGREEMENT, host: '127.0.0.1', port }).on('error', () => undefined);
  const bytes = await hello;
  server.close();
  return bytes.subarray(5);
}

const pairs = (bytes: Buffer): string[] => bytes.toString('hex').match(/.{4}/g) ?? [];

it('offers elliptic curves only', async () => {
  const hello = await clientHello();
  const session = 38 + 1 + (hello[38] ?? 0);
  const suites = hello.subarray(session + 2, session + 2 + hello.readUInt16BE(session));
  expect(pairs(suites)).toContain('c02f');
  expect(pairs(suites).filter((suite) => DHE.includes(suite))).toEqual([]);
  const groups: string[] = [];
  let at = session + 2 + suites.length + 1 + (hello[session + 2 + suites.length] ?? 0) + 2;
  while (at < hello.length) {
    const length = hello.readUInt16BE(at + 2);
    if (hello.readUInt16BE(at) === GROUPS) {
      groups.push(...pairs(hello.subarray(at + 6, at + 4 + length)));
    }
    at += 4 + length;
  }
  expect(groups).toContain('001d');
  expect(groups.filter((group) => FINITE_FIELDS.includes(group))).toEqual([]);
});
