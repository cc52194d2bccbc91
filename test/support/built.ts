import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Plugin } from 'vitest/config';

/** Where the service was built: its own compiler knows what its decorators mean. */
const DIST = new URL('../../dist/src/', import.meta.url);

/**
 * A module of the built service.
 * @param file path in `src`, with the ending `.js`
 */
export async function built<Module>(file: string): Promise<Module> {
  return (await import(new URL(file, DIST).href)) as Module;
}

const SOURCE = /^(src|migrations|packages\/(?:client|engine)\/src)\/(.*)(?<!\.spec)\.ts$/;

/**
 * Lets tests import the built modules where they name the sources, so that tests hold what is shipped. Node loads these
 * modules as they are, which takes less time than compiling and wrapping the sources for each project.
 * @param root folder of the project; its `dist` must be of the same sources
 */
export function builtModules(root: string): Plugin {
  return {
    name: 'built-modules',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (importer === undefined || !/^[.#]/.test(source)) {
        return undefined;
      }
      const [path = ''] = (await this.resolve(source, importer, { skipSelf: true }))?.id.split('?') ?? [];
      const built = join(root, 'dist', relative(root, path).replace(SOURCE, '$1/$2.js'));
      return SOURCE.test(relative(root, path)) && existsSync(built)
        ? { id: built, external: true }
        : undefined;
    },
  };
}
