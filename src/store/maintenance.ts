import { parseArgs } from 'node:util';
import type { DataSource } from 'typeorm';
import { Env, EnvError } from '../platform/config/env.js';
import { StartError } from '../platform/config/start.error.js';
import { openDatabase } from './connection/connect.js';
import { describeDatabase, isEmbeddedFileMissing } from './connection/data-source.options.js';
import type { Schema } from './schema.types.js';
import { checkWriters } from './start-checks.js';

const EMBEDDED = '--embedded';

interface DatabaseCommand {
  schema: Schema;
  work: (dataSource: DataSource, env: Env) => Promise<number>;
  mayCreate?: boolean;
}

/**
 * Runs a maintenance command with the configured database, and prints which one it is. Without `DATABASE_URL` the command
 * requires `--embedded`, so that it does not succeed on an unused embedded file if the variable was forgotten.
 * @throws EnvError when settings are wrong or do not name exactly one database; StartError when it cannot be used
 */
export async function withDatabase(
  args: string[],
  print: (line: string) => void,
  { schema, work, mayCreate = false }: DatabaseCommand,
): Promise<number> {
  const env = Env.fromProcess('maintenance');
  checkTarget(env.get('DATABASE_URL') !== undefined, hasEmbeddedFlag(args));
  print(`Database: ${describeDatabase(env)}`);
  if (!mayCreate && isEmbeddedFileMissing(env)) {
    throw new StartError(
      'The file does not exist. Create it with "npm run migration:run", or start the service.',
    );
  }
  let status = 0;
  const dataSource = await openDatabase(env, schema, async (connected) => {
    await checkWriters(connected);
    status = await work(connected, env);
  });
  await dataSource.destroy();
  return status;
}

function hasEmbeddedFlag(args: string[]): boolean {
  try {
    return parseArgs({ args, options: { embedded: { type: 'boolean', default: false } } }).values.embedded;
  } catch {
    throw new EnvError([`${EMBEDDED} is the only argument of this command`]);
  }
}

function checkTarget(isNamed: boolean, isEmbedded: boolean): void {
  if (!isNamed && !isEmbedded) {
    throw new EnvError([`DATABASE_URL is required, or ${EMBEDDED} for the embedded file in DATA_DIR`]);
  }
  if (isNamed && isEmbedded) {
    throw new EnvError([`DATABASE_URL must not be set with ${EMBEDDED}`]);
  }
}
