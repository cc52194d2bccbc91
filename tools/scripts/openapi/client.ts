import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openApiTool } from './tools.js';

/** Where the committed client is. */
export const CLIENT_FOLDER = 'packages/client/src/generated';

/** Folders of the generator's own code, which is the same for every document. */
const RUNTIME = ['client', 'core'];
const UNCHECKED =
  "// @ts-nocheck The generator's own code passes undefined where a member is optional, which exactOptionalPropertyTypes refuses.\n";

/**
 * Makes the client of openapi.json: types and one method for each operation, and the code that sends requests. Whatever is in the
 * folder is deleted first.
 */
export function generateClient(folder = CLIENT_FOLDER): void {
  execFileSync(
    openApiTool('openapi-ts'),
    ['--file', 'tools/scripts/openapi/openapi-ts.config.mjs', '--silent'],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, CLIENT_FOLDER: resolve(folder) },
    },
  );
  for (const part of RUNTIME) {
    for (const name of readdirSync(join(folder, part))) {
      const path = join(folder, part, name);
      writeFileSync(path, UNCHECKED + readFileSync(path, 'utf8'));
    }
  }
}
