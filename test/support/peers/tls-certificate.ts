import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processFolder } from '../databases/process-folder.js';

const run = promisify(execFile);

/** A key and the certificate that it signed itself, in PEM form. */
export interface TlsCertificate {
  key: string;
  cert: string;
}

/**
 * Makes a certificate for 127.0.0.1 that is its own authority.
 * @param days how long it is valid
 * @throws Error where there is no openssl
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
