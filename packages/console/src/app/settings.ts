import type { ConsoleSettings } from '../../../client/src/index.js';

const PATH = '/console/settings';

/**
 * Reads the settings that the service publishes without authentication.
 * @throws Error when the service does not return them
 */
export async function readSettings(): Promise<ConsoleSettings> {
  const response = await fetch(PATH, { headers: { Accept: 'application/json' } });
  if (!response.ok) {
    throw new Error(`Could not load ${PATH}: HTTP ${response.status}.`);
  }
  return (await response.json()) as ConsoleSettings;
}
