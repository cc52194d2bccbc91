import { databaseLimits } from '../database.limits.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { Log } from '../../platform/observability/logging/log.js';
import { EnvError, type Env } from '../../platform/config/env.js';
import { codeOf, SettingUnusableError } from '../../platform/config/start.error.js';
import { dataSourceOptions } from './data-source.options.js';
import { isDatabaseFailure } from '../database.errors.js';
import { isAway } from './driver-errors.js';
import type { Schema } from '../schema.types.js';

const SECOND_MS = 1_000;
const PAUSE_MS = 1_000;
/** The server is there, but not for this user, password or database: waiting mends nothing. */
const REFUSALS = new Set([
  'ER_ACCESS_DENIED_ERROR',
  'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
]);

/** What must be done before a database is used; it must bear to be repeated. */
type Preparation = (dataSource: DataSource) => Promise<unknown>;

/**
 * Connects to the database that the settings name.
 * @throws EnvError when a setting cannot be right, SettingUnusableError when the database cannot be had
 */
export async function connectDatabase(env: Env, schema: Schema): Promise<DataSource> {
  try {
    return await new DataSource(dataSourceOptions(env, schema)).initialize();
  } catch (error) {
    throw unusable(error, env);
  }
}

/**
 * The same for a replica that starts. It waits up to `startWaitSeconds` for a database that is away or just
 * starting, or whose name is not known. A database that goes away before all is prepared is waited for too, and the work
 * begins anew. A database that refuses us is not waited for.
 * @throws EnvError, SettingUnusableError as above; what `prepare` throws when the database is not to blame
 */
export async function awaitDatabase(
  env: Env,
  schema: Schema,
  log: Log,
  prepare: Preparation = async () => undefined,
): Promise<DataSource> {
  const limitMs = databaseLimits.startWaitSeconds * SECOND_MS;
  let awaySince: number | undefined;
  for (;;) {
    const asked = performance.now();
    try {
      const dataSource = await opened(env, schema, prepare);
      if (awaySince !== undefined) {
        log.info('the database is there', { waitedMs: Math.round(performance.now() - awaySince) });
      }
      return dataSource;
    } catch (error) {
      const { cause } = error as Error;
      if (!isAway(cause) || performance.now() - (awaySince ?? asked) + PAUSE_MS > limitMs) {
        throw error;
      }
      if (awaySince === undefined) {
        log.warn('waiting for the database', { errorCode: codeOf(cause), limitMs });
      }
      awaySince ??= asked;
    }
    await sleep(PAUSE_MS);
  }
}

/**
 * Connects, and closes the connection again where the preparation fails.
 * @throws as `connectDatabase`; what `prepare` throws when the database is not to blame
 */
export async function opened(env: Env, schema: Schema, prepare: Preparation): Promise<DataSource> {
  const dataSource = await connectDatabase(env, schema);
  try {
    await prepare(dataSource);
    return dataSource;
  } catch (error) {
    // That it cannot be closed either says nothing more.
    await dataSource.destroy().catch(() => undefined);
    throw isAway(error) || isDatabaseFailure(error) ? unusable(error, env) : error;
  }
}

function unusable(error: unknown, env: Env): Error {
  const setting = env.get('DATABASE_URL') === undefined ? 'DATA_DIR' : 'DATABASE_URL';
  if (error instanceof EnvError) {
    return error;
  }
  return REFUSALS.has(codeOf(error))
    ? new EnvError([`${setting} names a user or a database that the server refuses: ${codeOf(error)}`])
    : new SettingUnusableError(`${setting} names a database that cannot be used`, error);
}
