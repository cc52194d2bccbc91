import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TlsCertificate } from '../../support/peers/certificates.js';

const run = promisify(execFile);
/** A slow curve, and about as many certificates as a client takes. */
const CURVE = 'sect571r1';
const CERTIFICATES = 96;

/** A certificate whose chain takes long to check. Needs openssl. */
export async function longChain(): Promise<TlsCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-chain-'));
  const file = (name: string): string => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${CURVE}`, '-nodes'];
  const request = (index: number): string[] => ['-subj', `/CN=c${index}`, '-keyout', file(`${index}.key`)];
  try {
    await writeFile(file('ext'), 'basicConstraints=CA:TRUE\n');
    await run('openssl', ['req', '-x509', ...key, ...request(0), '-days', '2', '-out', file('0.pem')]);
    for (let index = 1; index < CERTIFICATES; index += 1) {
      await run('openssl', ['req', '-new', ...key, ...request(index), '-out', file('csr')]);
      const authority = ['-CA', file(`${index - 1}.pem`), '-CAkey', file(`${index - 1}.key`)];
      const content = ['-set_serial', String(index), '-days', '2', '-extfile', file('ext')];
      await run('openssl', [
        'x509',
        '-req',
        '-in',
        file('csr'),
        ...authority,
        ...content,
        '-out',
        file(`${index}.pem`),
      ]);
    }
    const chain = await Promise.all(
      Array.from({ length: CERTIFICATES }, (_, index) => readFile(file(`${index}.pem`), 'utf8')),
    );
    return {
      key: await readFile(file(`${CERTIFICATES - 1}.key`), 'utf8'),
      cert: chain.toReversed().join(''),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
