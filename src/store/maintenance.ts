import { parseArgs } from 'node:util';
import type { DataSource } from 'typeorm';
import { Env, EnvError } from '../platform/config/env.js';
import { StartError } from '../platform/config/start.error.js';
import { opened } from './connection/connect.js';
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
 * Gives a command of an operator its database, and prints which one that is. Without `DATABASE_URL` the embedded file
 * of `DATA_DIR` must be asked for: a forgotten variable would have the command succeed on a database of nobody.
 * @throws EnvError when settings are wrong, no database is named or two are; StartError when it cannot be had
 */
export async function withDatabaseOf(
  args: string[],
  print: (line: string) => void,
  { schema, work, mayCreate = false }: DatabaseCommand,
): Promise<number> {
  const env = Env.fromProcess('maintenance');
  checkTarget(env.get('DATABASE_URL') !== undefined, isEmbeddedAskedFor(args));
  print(`Database: ${describeDatabase(env)}`);
  if (!mayCreate && isEmbeddedFileMissing(env)) {
    throw new StartError(
      'There is no such file: "npm run migration:run" makes it, or a start of the service.',
    );
  }
  let status = 0;
  const dataSource = await opened(env, schema, async (connected) => {
    await checkWriters(connected);
    status = await work(connected, env);
  });
  await dataSource.destroy();
  return status;
}

function isEmbeddedAskedFor(args: string[]): boolean {
  try {
    return parseArgs({ args, options: { embedded: { type: 'boolean', default: false } } }).values.embedded;
  } catch {
    throw new EnvError([`${EMBEDDED} is the one argument that this command takes`]);
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
