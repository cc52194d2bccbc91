import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from './platform/config/cli.js';
import { PLATFORM_SCHEMA_FILE, platformSchema } from './discovery/sources/configuration/component.schema.js';
import { SVC_EXTENSION } from '#engine/definitions';
import { publishedSchemas } from './delivery/packages/schema/published-schemas.js';

const FOLDER = 'docs/schemas';
const MODELER_FOLDER = 'packages/modeler';

/**
 * Writes the published JSON Schemas (application packages and the configuration file of discovery), and the descriptor
 * of our BPMN extensions that modelers need to preserve them.
 */
await runCli(async (_args, print) => {
  const write = (folder: string, name: string, content: object): void => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
    print(`Wrote ${join(folder, name)}.`);
  };
  const schemas = { ...publishedSchemas(), [PLATFORM_SCHEMA_FILE]: platformSchema() };
  for (const [name, schema] of Object.entries(schemas)) {
    write(FOLDER, name, schema);
  }
  write(MODELER_FOLDER, 'svc.json', SVC_EXTENSION);
  return 0;
});
