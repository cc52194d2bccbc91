import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { Log } from '../common/logging/log.js';
import { EnvError, type Env } from '../config/env.js';
import { codeOf, SettingUnusableError } from '../config/start.error.js';
import { dataSourceOptions } from './data-source.options.js';
import { isAway } from './driver-errors.js';

const SECOND_MS = 1_000;
const PAUSE_MS = 1_000;

/**
 * Connects to the database that the settings name.
 * @throws EnvError when a setting cannot be right, SettingUnusableError when the database cannot be had
 */
export async function connectDatabase(env: Env): Promise<DataSource> {
  try {
    return await new DataSource(dataSourceOptions(env)).initialize();
  } catch (error) {
    throw unusable(error, env);
  }
}

/**
 * The same for a replica that starts: a database that is away or just starting, or whose name is not known, is waited for, up to
 * DATABASE_START_WAIT_SECONDS. One that refuses us is not.
 * @throws EnvError, SettingUnusableError as above
 */
export async function awaitDatabase(env: Env, log: Log): Promise<DataSource> {
  const limitMs = env.get('DATABASE_START_WAIT_SECONDS') * SECOND_MS;
  const began = performance.now();
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      const dataSource = await new DataSource(dataSourceOptions(env)).initialize();
      if (isWaiting) {
        log.info('the database is there', { waitedMs: Math.round(performance.now() - began) });
      }
      return dataSource;
    } catch (error) {
      if (!isAway(error) || performance.now() - began + PAUSE_MS > limitMs) {
        throw unusable(error, env);
      }
      if (!isWaiting) {
        log.warn('waiting for the database', { errorCode: codeOf(error), limitMs });
      }
    }
    await sleep(PAUSE_MS);
  }
}

function unusable(error: unknown, env: Env): Error {
  const setting = env.get('DATABASE_URL') === undefined ? 'DATA_DIR' : 'DATABASE_URL';
  return error instanceof EnvError
    ? error
    : new SettingUnusableError(`${setting} names a database that cannot be used`, error);
}
