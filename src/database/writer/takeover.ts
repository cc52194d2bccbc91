import { databaseHosts } from '../../config/database-url.js';
import type { Env } from '../../config/env.js';

/** Of DATABASE_WRITER_WAIT_SECONDS, where DATABASE_URL names several hosts. */
const WAIT_OF_SEVERAL_SECONDS = 30;

/** For how many seconds another server may yet take the writes over; 0 where the database is one server. */
export function takeoverSeconds(env: Env): number {
  return env.get('DATABASE_WRITER_WAIT_SECONDS') ?? (hasSeveralHosts(env) ? WAIT_OF_SEVERAL_SECONDS : 0);
}

/** Whether another server may come to take the writes. */
export function canChangeWriter(env: Env): boolean {
  return hasSeveralHosts(env) || takeoverSeconds(env) > 0;
}

function hasSeveralHosts(env: Env): boolean {
  return databaseHosts(env.get('DATABASE_URL') ?? '').length > 1;
}
