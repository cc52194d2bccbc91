/** Where the service was built: its own compiler knows what its decorators mean. */
const DIST = new URL('../../dist/src/', import.meta.url);

/**
 * A module of the built service.
 * @param file path in `src`, with the ending `.js`
 */
export async function built<Module>(file: string): Promise<Module> {
  return (await import(new URL(file, DIST).href)) as Module;
}
