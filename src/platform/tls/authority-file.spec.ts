import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Env, EnvError } from '../config/env.js';
import { readAuthority } from './authority-file.js';

const [first = '', second = ''] = rootCertificates;
/** Has the markers of a certificate, but other content. */
const BROKEN = first.replace(/\n[^-]+\n/, '\nY2FuYXJ5\n');

describe('readAuthority', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-authority-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const fileOf = async (text: string): Promise<string> => {
    const file = join(folder, 'canary.pem');
    await writeFile(file, text);
    return file;
  };
  it.each([
    ['one certificate', first],
    [
      'several, with remarks and Windows line ends',
      `# ours\r\n${`${first}\n${second}\n`.replace(/\n/g, '\r\n')}`,
    ],
  ])('reads %s', async (_, text) => {
    expect(readAuthority(settings(await fileOf(text)))).toEqual({ ca: text });
  });

  it.each([
    ['nothing', ''],
    ['another text', 'canary'],
    ['a certificate without its end', first.slice(0, -30)],
    ['a broken certificate', BROKEN],
    ['a broken certificate after a good one', `${first}\n${BROKEN}`],
  ])('rejects %s with the name of the setting, not its value', async (_, text) => {
    const error = refusalOf(await fileOf(text));
    expect(error).toBeInstanceOf(EnvError);
    expect((error as EnvError).problems).toEqual([
      'TLS_CA_FILE must name a file of certificates in PEM format',
    ]);
  });

  it.each([
    ['does not exist', 'none.pem', 'ENOENT'],
    ['is a folder', '', 'EISDIR'],
  ])('rejects a file that %s', (_, name, code) => {
    const error = refusalOf(join(folder, name));
    expect(error).toBeInstanceOf(EnvError);
    expect((error as EnvError).problems).toEqual([`TLS_CA_FILE must name a file that can be read: ${code}`]);
  });
});

function settings(file: string): Env {
  return Env.parse('maintenance', { TLS_CA_FILE: file });
}

/** Returns the error that reading the file throws. */
function refusalOf(file: string): unknown {
  try {
    return readAuthority(settings(file));
  } catch (error) {
    return error;
  }
}
