import { chown, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { TlsCertificate } from '../peers/certificates.js';
import { NOBODY } from '../databases/local-server.js';
import { type ProbedServer, psql } from './servers.js';

/** Sets the certificate of a running MySQL server until its next restart. */
export async function secureMysql(url: string, certificate: TlsCertificate): Promise<void> {
  const admin = await createConnection({ uri: url });
  try {
    const [[row]] = await admin.query<RowDataPacket[]>('SELECT @@datadir AS folder');
    const { key, cert } = await writeFiles(row!['folder'] as string, certificate);
    await admin.query('SET GLOBAL ssl_ca = ?, GLOBAL ssl_cert = ?, GLOBAL ssl_key = ?', [cert, cert, key]);
    await admin.query('ALTER INSTANCE RELOAD TLS');
  } finally {
    await admin.end();
  }
}

/** Enables TLS with this certificate on a PostgreSQL server. */
export async function securePostgresql(
  { server, port }: ProbedServer,
  certificate: TlsCertificate,
): Promise<void> {
  const { key, cert } = await writeFiles(server.folder, certificate);
  await psql(port, `ALTER SYSTEM SET ssl_key_file = '${key}'`);
  await psql(port, `ALTER SYSTEM SET ssl_cert_file = '${cert}'`);
  await psql(port, 'ALTER SYSTEM SET ssl = on');
  await server.restart();
}

/**
 * Starts a proxy that terminates TLS in front of a local plain-text server.
 * @param ports maps port numbers in the server's answers (four bytes) to the numbers that clients receive instead
 */
export async function startTlsFront(
  port: number,
  certificate: TlsCertificate & TlsOptions,
  ports: ReadonlyMap<number, number> = new Map(),
) {
  const server = createServer({ ...certificate }, (secure) => {
    const plain = connect(port, '127.0.0.1');
    secure.pipe(plain);
    plain.on('data', (chunk) => secure.write(replacePorts(chunk, ports))).on('end', () => secure.end());
    secure.on('error', () => undefined).on('close', () => plain.destroy());
    plain.on('error', () => undefined).on('close', () => secure.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Starts a TLS proxy in front of each broker of a Kafka cluster, whose metadata then lists the proxies. */
export async function startKafkaTls(brokers: readonly string[], certificate: TlsCertificate) {
  const ports = new Map<number, number>();
  const fronts = await Promise.all(
    brokers.map(async (broker) => {
      const port = Number(broker.split(':')[1]);
      const front = await startTlsFront(port, certificate, ports);
      ports.set(port, front.port);
      return front;
    }),
  );
  return {
    brokers: fronts.map(({ port }) => `127.0.0.1:${port}`),
    close: () => Promise.all(fronts.map((front) => front.close())),
  };
}

function replacePorts(chunk: Buffer, ports: ReadonlyMap<number, number>): Buffer {
  for (const [from, to] of ports) {
    const wanted = Buffer.alloc(4);
    wanted.writeUInt32BE(from);
    for (let at = chunk.indexOf(wanted); at >= 0; at = chunk.indexOf(wanted, at + 4)) {
      chunk.writeUInt32BE(to, at);
    }
  }
  return chunk;
}

async function writeFiles(folder: string, certificate: TlsCertificate) {
  const files = { key: join(folder, 'own-key.pem'), cert: join(folder, 'own-cert.pem') };
  await writeFile(files.cert, certificate.cert);
  await writeFile(files.key, certificate.key, { mode: 0o600 });
  if (process.getuid?.() === 0) {
    await chown(files.key, NOBODY, NOBODY);
  }
  return files;
}
