import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { builtModules } from './test/support/built-modules.js';

/** An end for what hangs, and no claim about the speed of the machine. */
const TEST_TIMEOUT_MS = 180_000;
/** For each project: none takes anything over from the settings around them. */
const PATIENT = {
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: TEST_TIMEOUT_MS,
  expect: { poll: { timeout: TEST_TIMEOUT_MS } },
};
const PATIENCE = 'test/support/patience.ts';
/** Tests wait for servers, timers and each other for about half of their time; more workers than cores fill it. */
const WORKERS_PER_CORE = 2;

/** `npm test` builds first and sets TEST_BUILT; single tests run on the sources. */
const plugins = process.env['TEST_BUILT'] === undefined ? [] : [builtModules(import.meta.dirname)];

/** Integration tests of parts that never reach the database: the project `peers`. */
const WITHOUT_DATABASE = [
  'test/integration/auth/**/*.int-spec.ts',
  'test/integration/client/connections.int-spec.ts',
  'test/integration/discovery/sources/**/*.int-spec.ts',
  'test/integration/mcp-connection/**/*.int-spec.ts',
  'test/integration/redis/**/*.int-spec.ts',
  'test/integration/testing/**/*.int-spec.ts',
  'test/integration/discovery-probes/**/*.int-spec.ts',
];

/** Tests of applications, with a service of their own. They name the client package as authors do. */
const OF_APPLICATIONS = ['sample/tests/**/*.test.ts'];
const CLIENT = {
  '@svc/client/testing': fileURLToPath(new URL('clients/typescript/src/testing/index.ts', import.meta.url)),
};

/** Takes drivers away from its whole process: the project `driverless`. */
const HIDES_DRIVERS = 'test/integration/discovery-probes/drivers.int-spec.ts';

/**
 * Integration tests of what comes before the tables or beside them, with statements that other tests hold on each
 * database. They run on the first of several databases only.
 */
const SAME_ON_EVERY_DATABASE = [
  // Messages, headers, limits and the document of routes: refused or answered before a service reads a row. Not
  // `request-body`, which stores characters and numbers.
  'test/integration/http/!(request-body).int-spec.ts',
  'test/integration/openapi.int-spec.ts',
  // Calls of models, tools and endpoints; `agent-process`, `resolution`, `preflight` and `workflows` hold what they store.
  'test/integration/agents/{hostile,sample}-agent*.int-spec.ts',
  'test/integration/rest-endpoints/**/*.int-spec.ts',
  // The command that delivers folders, and the sample: callers of routes that `builds` holds.
  'test/integration/packages/**/*.int-spec.ts',
  'test/integration/command-line/**/*.int-spec.ts',
  // Which traces are recorded, and how they are sent; `traces` has their statements.
  'test/integration/tracing/{sampling,collectors}.int-spec.ts',
  // Bodies and paths that are refused. What depends on collations or widths of columns is in the main files of the routes.
  'test/integration/{systems,tools}/*-refusals.int-spec.ts',
];

/** What a sharded database is asked for: starts, UI actions, jobs, messages, calls and lists. */
const OF_SHARDS = [
  'test/integration/process-runtime/{background*,call-errors,incident-inbox,incidents,instance-lists,instance-read,instance-search}.int-spec.ts',
  'test/integration/process-runtime/{instance-operations,process-statistics,running-processes,start-process}.int-spec.ts',
  'test/integration/ui-action/{execute-ui-action,repeated-actions}.int-spec.ts',
  'test/integration/workflows/{call-journal,test-runs,workflow-runs,workflow-usage}.int-spec.ts',
];

/** Integration tests on one database; each worker has a database of its own. */
function integration(database: string, index: number, all: readonly string[]): TestProjectConfiguration {
  return {
    plugins,
    test: {
      name: all.length === 1 ? 'integration' : `integration-${database}`,
      isolate: false,
      include: database === 'vitess' ? OF_SHARDS : ['test/integration/**/*.int-spec.ts'],
      exclude: [...WITHOUT_DATABASE, ...(index === 0 ? [] : SAME_ON_EVERY_DATABASE)],
      globalSetup: ['test/support/global-setup.ts'],
      setupFiles: ['reflect-metadata', PATIENCE, 'test/support/setup.ts'],
      env: { NODE_ENV: 'test', TEST_DATABASE: database },
      ...PATIENT,
    },
  };
}

/**
 * Three kinds of projects. `unit` runs beside the code. `peers` drives single parts against real and hostile outside
 * parties; `driverless` is the one file of them that needs a process of its own. `integration` drives the whole application
 * over HTTP on the database that TEST_DATABASE names (embedded, mariadb or mysql). `npm test` runs all of them together,
 * with a project `integration-…` for each database. `shards` drives a part of it on the embedded database as one of 8 shards.
 * VITEST_MAX_WORKERS sets another number of workers.
 */
export default defineConfig({
  test: {
    maxWorkers: WORKERS_PER_CORE * availableParallelism(),
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
          setupFiles: ['reflect-metadata', PATIENCE],
          ...PATIENT,
        },
      },
      {
        plugins,
        resolve: { alias: CLIENT },
        test: {
          name: 'peers',
          isolate: false,
          include: [...WITHOUT_DATABASE, ...OF_APPLICATIONS],
          exclude: [HIDES_DRIVERS],
          setupFiles: ['reflect-metadata', PATIENCE],
          env: { NODE_ENV: 'test', SVC_HOME: import.meta.dirname },
          ...PATIENT,
        },
      },
      {
        test: {
          name: 'driverless',
          include: [HIDES_DRIVERS],
          setupFiles: ['reflect-metadata', PATIENCE],
          env: { NODE_ENV: 'test' },
          ...PATIENT,
        },
      },
      ...(process.env['TEST_DATABASE'] ?? 'embedded').split(',').map(integration),
      {
        plugins,
        test: {
          name: 'shards',
          isolate: false,
          // The transactions of these tests, not of the service, touch several shards, which Vitess refuses.
          include: ['test/integration/jobs/*.int-spec.ts', ...OF_SHARDS],
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['reflect-metadata', PATIENCE, 'test/support/setup.ts'],
          env: { NODE_ENV: 'test', TEST_DATABASE: 'embedded', TEST_SHARDS: '8' },
          ...PATIENT,
        },
      },
    ],
  },
});
