import { DataSource } from 'typeorm';
import { EnvError, type Env } from '../config/env.js';
import { SettingUnusableError } from '../config/start.error.js';
import { dataSourceOptions } from './data-source.options.js';

/**
 * Connects to the database that the settings name.
 * @throws EnvError when a setting cannot be right, SettingUnusableError when the database cannot be had
 */
export async function connectDatabase(env: Env): Promise<DataSource> {
  try {
    return await new DataSource(dataSourceOptions(env)).initialize();
  } catch (error) {
    const setting = env.get('DATABASE_URL') === undefined ? 'DATA_DIR' : 'DATABASE_URL';
    throw error instanceof EnvError
      ? error
      : new SettingUnusableError(`${setting} names a database that cannot be used`, error);
  }
}
