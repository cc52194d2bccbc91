import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../../config/cli.js';
import { publishedSchemas } from './schema/published-schemas.js';

const FOLDER = 'schemas';

/** Writes the published JSON Schemas. */
await runCli(async (_args, print) => {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, schema] of Object.entries(publishedSchemas())) {
    writeFileSync(join(FOLDER, name), `${JSON.stringify(schema, null, 2)}\n`);
    print(`${join(FOLDER, name)} is written.`);
  }
  return 0;
});
