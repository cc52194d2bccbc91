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
/** The server rejects the user, password or database, so waiting does not help. */
const REFUSALS = new Set([
  'ER_ACCESS_DENIED_ERROR',
  'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
]);

/** Prepares a database for use. Must be idempotent, because it may run again. */
type Preparation = (dataSource: DataSource) => Promise<unknown>;

/**
 * Connects to the database that the settings name.
 * @throws EnvError when a setting is wrong, SettingUnusableError when the database cannot be used
 */
export async function connectDatabase(env: Env, schema: Schema): Promise<DataSource> {
  try {
    return await new DataSource(dataSourceOptions(env, schema)).initialize();
  } catch (error) {
    throw unusable(error, env);
  }
}

/**
 * Connects and prepares the database of a starting replica. Waits up to `startWaitSeconds` while the database is unavailable,
 * starting or not found by name, and prepares again if it becomes unavailable. Does not wait for a server that rejects access.
 * @throws as `openDatabase`
 */
export async function awaitDatabase(
  env: Env,
  schema: Schema,
  log: Log,
  prepare: Preparation = async () => undefined,
): Promise<DataSource> {
  const limitMs = databaseLimits.startWaitSeconds * SECOND_MS;
  let unavailableSince: number | undefined;
  for (;;) {
    const begun = performance.now();
    try {
      const dataSource = await openDatabase(env, schema, prepare);
      if (unavailableSince !== undefined) {
        log.info('the database is available', { waitedMs: Math.round(performance.now() - unavailableSince) });
      }
      return dataSource;
    } catch (error) {
      const { cause } = error as Error;
      if (!isAway(cause) || performance.now() - (unavailableSince ?? begun) + PAUSE_MS > limitMs) {
        throw error;
      }
      if (unavailableSince === undefined) {
        log.warn('waiting for the database', { errorCode: codeOf(cause), limitMs });
      }
      unavailableSince ??= begun;
    }
    await sleep(PAUSE_MS);
  }
}

/**
 * Connects to the database and prepares it. Closes the connection if the preparation fails.
 * @throws as `connectDatabase`; what `prepare` throws for other reasons than the database
 */
export async function openDatabase(env: Env, schema: Schema, prepare: Preparation): Promise<DataSource> {
  const dataSource = await connectDatabase(env, schema);
  try {
    await prepare(dataSource);
    return dataSource;
  } catch (error) {
    // An error of closing would hide the cause.
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
    ? new EnvError([`${setting} names a user or database that the server rejects: ${codeOf(error)}`])
    : new SettingUnusableError(`${setting} names a database that cannot be used`, error);
}
