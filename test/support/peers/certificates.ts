import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processFolder } from '../databases/process-resources.js';

const run = promisify(execFile);

/** A private key and its certificate, in PEM format. */
export interface TlsCertificate {
  key: string;
  cert: string;
}

/**
 * Creates a self-signed certificate for 127.0.0.1.
 * @param days validity in days
 * @throws Error when openssl is not installed
 */
export async function tlsCertificate(days = 2): Promise<TlsCertificate> {
  const folder = await processFolder(join(tmpdir(), 'svc-certificate'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const content = [
      '-subj',
      '/CN=127.0.0.1',
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-days',
      String(days),
    ];
    await run('openssl', [...request, ...content, '-keyout', key, '-out', cert]);
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  } finally {
    await rm(folder, { recursive: true });
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Options of a certificate. */
export interface IssueOptions {
  /** Common name. @default 127.0.0.1 */
  name?: string;
  /** Subject alternative names. @default 127.0.0.1 and localhost */
  altNames?: string;
  /** Validity in days; -1 creates a certificate that expired yesterday. @default 2 */
  days?: number;
}

/** A private certificate authority, which clients trust only if configured. Requires openssl. */
export class CertificateAuthority {
  private count = 0;

  private constructor(
    private readonly folder: string,
    /** The authority's certificate, in PEM format. */
    readonly cert: string,
  ) {}

  static async create(name = 'Test authority'): Promise<CertificateAuthority> {
    const folder = await processFolder(join(tmpdir(), 'svc-authority'));
    const files = ['-keyout', join(folder, 'ca.key'), '-out', join(folder, 'ca.pem')];
    await run('openssl', ['req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}/O=Test`, '-days', '2', ...files]);
    return new CertificateAuthority(folder, await readFile(join(folder, 'ca.pem'), 'utf8'));
  }

  /** Creates a key and a certificate for a server on this machine or for a client. */
  async issue({
    name = '127.0.0.1',
    altNames = 'IP:127.0.0.1,DNS:localhost',
    days = 2,
  }: IssueOptions = {}): Promise<TlsCertificate> {
    const file = (kind: string): string => join(this.folder, `${this.count}.${kind}`);
    this.count += 1;
    await writeFile(file('ext'), `subjectAltName=${altNames}\n`);
    const request = ['req', '-new', ...NEW_KEY, '-subj', `/CN=${name}/O=Test`];
    await run('openssl', [...request, '-keyout', file('key'), '-out', file('csr')]);
    const authority = ['-CA', join(this.folder, 'ca.pem'), '-CAkey', join(this.folder, 'ca.key')];
    const content = ['-set_serial', String(this.count), '-days', String(days), '-extfile', file('ext')];
    await run('openssl', ['x509', '-req', '-in', file('csr'), ...authority, ...content, '-out', file('pem')]);
    return { key: await readFile(file('key'), 'utf8'), cert: await readFile(file('pem'), 'utf8') };
  }

  /** Removes the files of the authority. */
  async close(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}
