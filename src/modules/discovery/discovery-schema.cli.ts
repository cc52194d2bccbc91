import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../../config/cli.js';
import { PLATFORM_SCHEMA_FILE, platformSchema } from './sources/configuration/published-schema.js';

const FOLDER = 'schemas';

/** Writes the published JSON Schema of the configuration file. */
await runCli(async (_args, print) => {
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, PLATFORM_SCHEMA_FILE);
  writeFileSync(file, `${JSON.stringify(platformSchema(), null, 2)}\n`);
  print(`${file} is written.`);
  return 0;
});
