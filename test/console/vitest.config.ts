import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { builtModules } from '../support/built.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Stops tests that hang; not a performance requirement. */
const TIMEOUT_MS = 180_000;

/** Project that tests the console in a browser with the service on one database. */
function onDatabase(database: string): TestProjectConfiguration {
  return {
    root: ROOT,
    plugins: [builtModules(ROOT)],
    test: {
      name: `console-${database}`,
      isolate: false,
      server: { deps: { external: [/\/dist\//] } },
      include: ['test/console/**/*.console-spec.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      setupFiles: ['reflect-metadata', 'test/support/patience.ts', 'test/support/setup.ts'],
      env: { NODE_ENV: 'test', TEST_DATABASE: database },
      testTimeout: TIMEOUT_MS,
      hookTimeout: TIMEOUT_MS,
    },
  };
}

/** Few workers, because each browser keeps a core busy. TEST_DATABASE lists the databases. */
export default defineConfig({
  test: { maxWorkers: 2, projects: (process.env['TEST_DATABASE'] ?? 'embedded').split(',').map(onDatabase) },
});
