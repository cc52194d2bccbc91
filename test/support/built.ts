import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Plugin } from 'vitest/config';

/** Build output. Tests use it because only the service's own compiler handles its decorators. */
const DIST = new URL('../../dist/src/', import.meta.url);

/**
 * Imports a module of the built service.
 * @param file path relative to `src`, with the extension `.js`
 */
export async function built<Module>(file: string): Promise<Module> {
  return (await import(new URL(file, DIST).href)) as Module;
}

const SOURCE = /^(src|migrations|packages\/(?:client|engine)\/src)\/(.*)(?<!\.spec)\.ts$/;

/**
 * Vite plugin that resolves imports of sources to the built modules, so that tests run the shipped code. Node loads
 * them directly, which is faster than transforming the sources for each project.
 * @param root folder of the project; its `dist` must be up to date
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
