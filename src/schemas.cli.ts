import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from './config/cli.js';
import {
  PLATFORM_SCHEMA_FILE,
  platformSchema,
} from './modules/discovery/sources/configuration/published-schema.js';
import { publishedSchemas } from './modules/packages/schema/published-schemas.js';

const FOLDER = 'schemas';

/** Writes the published JSON Schemas: of packages, and of the configuration file of the discovery. */
await runCli(async (_args, print) => {
  mkdirSync(FOLDER, { recursive: true });
  const schemas = { ...publishedSchemas(), [PLATFORM_SCHEMA_FILE]: platformSchema() };
  for (const [name, schema] of Object.entries(schemas)) {
    writeFileSync(join(FOLDER, name), `${JSON.stringify(schema, null, 2)}\n`);
    print(`${join(FOLDER, name)} is written.`);
  }
  return 0;
});
