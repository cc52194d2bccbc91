import type { ConsoleSettings } from '../../../client/src/index.js';

/** What the service says before anybody has signed in. */
export type Settings = ConsoleSettings;

const PATH = '/console/settings';

/**
 * Asks for the settings of the console.
 * @throws Error when the service does not answer with them
 */
export async function readSettings(): Promise<Settings> {
  const response = await fetch(PATH, { headers: { Accept: 'application/json' } });
  if (!response.ok) {
    throw new Error(`${PATH}: ${response.status}`);
  }
  return (await response.json()) as Settings;
}
