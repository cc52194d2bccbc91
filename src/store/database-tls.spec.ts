import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:tls';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CertificateAuthority, type TlsCertificate } from '../../test/support/peers/certificates.js';
import { Env } from '../platform/config/env.js';
import { dataSourceOptions } from './connection/data-source.options.js';

const USER = 'somebody';
/** What a client sends before TLS begins: a header and 32 bytes (MySQL protocol, SSLRequest). */
const TLS_REQUEST_BYTES = 36;
/** All capabilities except compression. */
const CAPABILITIES = 0x000f_ffdf;
const CLIENT_SSL = 0x0000_0800;

/** The greeting of a MySQL server (MySQL protocol, HandshakeV10). */
function greeting(hasTls: boolean): Buffer {
  const capabilities = hasTls ? CAPABILITIES : CAPABILITIES & ~CLIENT_SSL;
  const fixed = Buffer.alloc(31);
  fixed.write('12345678', 4);
  fixed.writeUInt16LE(capabilities & 0xffff, 13);
  fixed.writeUInt8(45, 15);
  fixed.writeUInt16LE(2, 16);
  fixed.writeUInt16LE(capabilities >>> 16, 18);
  fixed.writeUInt8(21, 20);
  const body = Buffer.concat([
    Buffer.from('\n9.4.0\0'),
    fixed,
    Buffer.from('123456789012\0caching_sha2_password\0'),
  ]);
  const header = Buffer.alloc(4);
  header.writeUIntLE(body.length, 0, 3);
  return Buffer.concat([header, body]);
}

/** Greets clients like a database server, and records what they send. */
class FakeServer {
  readonly unencrypted: Buffer[] = [];
  readonly encrypted: Buffer[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly secure: Server;
  private readonly server: Server;

  constructor(private readonly certificate: TlsCertificate | null) {
    this.secure = createTlsServer({ ...certificate }, (socket) => {
      socket
        .on('error', () => undefined)
        .once('data', (login: Buffer) => {
          this.encrypted.push(login);
          socket.destroy();
        });
    });
    this.server = createServer((socket) => this.greet(this.kept(socket)));
  }

  async listen(): Promise<number> {
    await Promise.all([this.secure, this.server].map((one) => once(one.listen(0), 'listening')));
    return portOf(this.server);
  }

  close(): void {
    this.sockets.forEach((socket) => socket.destroy());
    this.server.close();
    this.secure.close();
  }

  private greet(socket: Socket): void {
    const { certificate } = this;
    socket.write(greeting(certificate !== null));
    socket.once('data', (bytes: Buffer) => {
      this.unencrypted.push(certificate === null ? bytes : bytes.subarray(0, TLS_REQUEST_BYTES));
      const secure = this.kept(connect(portOf(this.secure)));
      secure.write(bytes.subarray(TLS_REQUEST_BYTES));
      socket.pipe(secure).pipe(socket);
    });
  }

  private kept(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => undefined);
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

describe('a connection to the database with DATABASE_TLS', () => {
  let authority: CertificateAuthority;
  let server: FakeServer;
  const file = join(tmpdir(), `database-tls-${process.pid}.pem`);

  beforeAll(async () => {
    authority = await CertificateAuthority.create();
    writeFileSync(file, authority.cert);
  });
  afterEach(() => server.close());
  afterAll(async () => {
    rmSync(file);
    await authority.close();
  });

  /** Returns why a connection to a server with this certificate failed, which it always does, because it is not a database. */
  const outcome = async (
    certificate: TlsCertificate | null,
    more: Record<string, string> = { TLS_CA_FILE: file },
  ): Promise<string> => {
    server = new FakeServer(certificate);
    const port = await server.listen();
    const url = `mysql://${USER}:password@localhost:${port}/svc`;
    const env = Env.parse('maintenance', { DATABASE_URL: url, DATABASE_TLS: 'true', ...more });
    const source = new DataSource(dataSourceOptions(env, { entities: [], migrations: [] }));
    return source.initialize().then(
      () => 'connected',
      (error: Error) => error.message,
    );
  };
  const hasUser = (parts: Buffer[]): boolean => Buffer.concat(parts).includes(USER);

  it('signs in if a known CA signed the certificate and it names the host', async () => {
    await outcome(await authority.issue());
    expect([hasUser(server.encrypted), hasUser(server.unencrypted)]).toEqual([true, false]);
  });

  it('sends no credentials to a server with a certificate of an unknown CA', async () => {
    const stranger = await CertificateAuthority.create('Somebody');
    expect(await outcome(await stranger.issue())).toMatch(/certificate/);
    expect(await outcome(await authority.issue(), {})).toMatch(/certificate/);
    expect([hasUser(server.encrypted), hasUser(server.unencrypted)]).toEqual([false, false]);
    await stranger.close();
  });

  it('sends no credentials to a server with a certificate for another host', async () => {
    const altNames = 'DNS:other.example.com';
    expect(await outcome(await authority.issue({ name: 'other.example.com', altNames }))).toMatch(/altnames/);
    expect([hasUser(server.encrypted), hasUser(server.unencrypted)]).toEqual([false, false]);
  });

  it('sends no credentials to a server without encryption', async () => {
    expect(await outcome(null)).toMatch(/secure/);
    expect([hasUser(server.encrypted), hasUser(server.unencrypted)]).toEqual([false, false]);
  });
});
