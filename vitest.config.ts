import { defineConfig } from 'vitest/config';

const MINUTE_MS = 60_000;

/** Integration tests of parts that never reach the database; they run once, not once on each database. */
const WITHOUT_DATABASE = [
  'test/integration/auth/**/*.int-spec.ts',
  'test/integration/discovery/sources/**/*.int-spec.ts',
  'test/integration/mcp-connection/**/*.int-spec.ts',
  'test/integration/discovery-probes/**/*.int-spec.ts',
];

/**
 * Three projects: `unit` runs beside the code, `peers` drives single parts against real and hostile outside parties,
 * `integration` drives the whole application over HTTP on the database that TEST_DATABASE names (embedded, mariadb or
 * mysql). `npm test` runs all of them, `integration` once on each database.
 */
export default defineConfig({
  test: {
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'migrations/**/*.ts'],
      exclude: ['**/*.spec.ts', 'src/**/*.cli.ts', 'src/main.ts', 'src/evaluation/main.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { lines: 85, functions: 85 },
    },
    projects: [
      {
        test: {
          name: 'unit',
          isolate: false,
          include: ['src/**/*.spec.ts', 'migrations/**/*.spec.ts', 'test/unit/**/*.spec.ts'],
          setupFiles: ['reflect-metadata'],
          testTimeout: 20_000,
          hookTimeout: MINUTE_MS,
        },
      },
      {
        test: {
          name: 'peers',
          include: WITHOUT_DATABASE,
          setupFiles: ['reflect-metadata'],
          env: { NODE_ENV: 'test' },
          testTimeout: MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
      {
        test: {
          name: 'integration',
          isolate: false,
          include: ['test/integration/**/*.int-spec.ts'],
          exclude: WITHOUT_DATABASE,
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['reflect-metadata', 'test/support/setup.ts'],
          env: { NODE_ENV: 'test' },
          testTimeout: MINUTE_MS,
          hookTimeout: 2 * MINUTE_MS,
        },
      },
    ],
  },
});
