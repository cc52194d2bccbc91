import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingUnusableError } from '../platform/config/start.error.js';

const FILE = 'secrets.key';
const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;

/**
 * Returns the key that encrypts secrets in the embedded database. It is stored next to the database so that secrets survive a restart,
 * which is suitable only for evaluation: a copy of the folder contains both.
 * @throws SettingUnusableError when the folder cannot be created, read or written
 */
export async function evaluationSecretsKeys(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    return await keptKey(join(dataDir, FILE));
  } catch (error) {
    throw new SettingUnusableError('DATA_DIR names a folder that cannot be used', error);
  }
}

async function keptKey(path: string): Promise<string> {
  try {
    await writeFile(path, `evaluation:${randomBytes(KEY_BYTES).toString('base64')}`, {
      flag: 'wx',
      mode: OWNER_ONLY,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
  return readFile(path, 'utf8');
}
