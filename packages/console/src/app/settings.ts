import type { ConsoleSettings } from '../../../client/src/index.js';

/** Settings that the service publishes without authentication. */
export type Settings = ConsoleSettings;

const PATH = '/console/settings';

/**
 * Reads the settings of the console.
 * @throws Error when the service does not return them
 */
export async function readSettings(): Promise<Settings> {
  const response = await fetch(PATH, { headers: { Accept: 'application/json' } });
  if (!response.ok) {
    throw new Error(`${PATH}: ${response.status}`);
  }
  return (await response.json()) as Settings;
}
