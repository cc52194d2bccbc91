import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openApiTool } from './tools.js';

/** Folder of the committed client. */
export const CLIENT_FOLDER = 'packages/client/src/generated';

/** Folders of the generator's runtime code, which does not depend on the document. */
const RUNTIME = ['client', 'core'];
const UNCHECKED =
  "// @ts-nocheck The generator's own code passes undefined where a member is optional, which exactOptionalPropertyTypes refuses.\n";

/**
 * Generates the client from openapi.json: types, one method per operation, and the code that sends requests. Deletes
 * existing content of the folder first.
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
