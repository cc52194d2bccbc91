import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { builtModules } from './test/support/built.js';

/** Generous timeout that only stops hanging tests; it asserts nothing about speed. */
const TEST_TIMEOUT_MS = 180_000;
/** Timeouts of every project. Projects do not inherit the root settings, so each one repeats them. */
const TIMEOUTS = {
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: TEST_TIMEOUT_MS,
  expect: { poll: { timeout: TEST_TIMEOUT_MS } },
};
const PATIENCE = 'test/support/patience.ts';
/** Tests spend about half of their time waiting, so more workers than cores keep the processors busy. */
const WORKERS_PER_CORE = 2;

/** `npm test` builds first and sets TEST_BUILT; single tests run on the sources. */
const plugins = process.env['TEST_BUILT'] === undefined ? [] : [builtModules(import.meta.dirname)];

/** Tests of the sample applications. They start their own service and import the client package by name. */
const APPLICATION_TESTS = 'sample/tests/**/*.test.ts';
const PACKAGES = [
  {
    find: '@svc/client/testing',
    replacement: fileURLToPath(new URL('packages/client/src/testing/index.ts', import.meta.url)),
  },
  {
    find: /^#engine\/(.*)$/,
    replacement: fileURLToPath(new URL('packages/engine/src/$1/index.ts', import.meta.url)),
  },
];

/** Hides database drivers from its entire process, so it runs in the project `driverless`. */
const DRIVERLESS_TEST = 'test/integration/discovery-probes/drivers.int-spec.ts';

/** Tests of single components against external parties, and of HTTP: what can differ between versions of Node.js. */
const NETWORK_TESTS = [
  'test/integration/{auth,discovery-probes,mcp-connection}/**/*.int-spec.ts',
  // Messages, headers, limits and the OpenAPI document: answered before a service reads a row. Except `request-body`,
  // which stores characters and numbers.
  'test/integration/http/!(request-body).int-spec.ts',
];

/**
 * Tests whose result does not depend on the database: they run no statements, or only statements that other tests cover
 * on each database. The matrix runs them on the first database only.
 */
const SAME_ON_EVERY_DATABASE = [
  ...NETWORK_TESTS,
  'test/integration/client/*.int-spec.ts',
  'test/integration/discovery/sources/**/*.int-spec.ts',
  'test/integration/openapi.int-spec.ts',
  // Calls to models, tools and endpoints. `agent-process`, `resolution`, `preflight` and `workflows` cover what they
  // store.
  'test/integration/agents/{custom-agent,preflight-libraries,sample-agent*}.int-spec.ts',
  'test/integration/rest-endpoints/**/*.int-spec.ts',
  // The sample, which calls routes that `builds` covers.
  'test/integration/packages/**/*.int-spec.ts',
  // Which traces are recorded; `traces` covers their statements.
  'test/integration/tracing/sampling.int-spec.ts',
  // Rejected bodies and paths. Tests that depend on collations or column widths are in the main file of each route.
  'test/integration/{systems,tools}/*-refusals.int-spec.ts',
  // Console pages, deployment files and the API documentation page.
  'test/integration/{console,deploy}/**/*.int-spec.ts',
  'test/integration/api-docs.int-spec.ts',
  // Validation of packages, credentials, addresses, answers and expressions. `store-package`, `create-system`,
  // `synchronisation` and `start-process` cover their statements.
  'test/integration/builds/{build-differences,damaged-build,library-rights,outdated-package}.int-spec.ts',
  'test/integration/builds/{package-problems,package-systems,workflow-nodes}.int-spec.ts',
  'test/integration/health/{metrics,probes}.int-spec.ts',
  'test/integration/rights/application-rights.int-spec.ts',
  'test/integration/systems/{api-keys,certificates,plain-http,private-keys,static-headers,token-options}.int-spec.ts',
  'test/integration/tools/{call-tool,connection-test,egress-applications,server-description}.int-spec.ts',
  'test/integration/process-runtime/{call-errors,corrected-retries,documented-examples,failed-starts}.int-spec.ts',
  'test/integration/process-runtime/{failing-expressions,instance-diagram,order-of-checks,step-warnings,stuck-joins}.int-spec.ts',
];

/**
 * Tests of behavior that can differ between a database server and the embedded database: locks, races, collations,
 * plans, batches, list order.
 */
const SERVER_TESTS = [
  'test/integration/database/*.int-spec.ts',
  'test/integration/jobs/*.int-spec.ts',
  'test/integration/audit/audit.int-spec.ts',
  'test/integration/builds/{active-build,races}.int-spec.ts',
  'test/integration/discovery/{history,replicas}.int-spec.ts',
  'test/integration/http/request-body.int-spec.ts',
  'test/integration/process-runtime/{incident-inbox,instance-lists,instance-search,process-statistics}.int-spec.ts',
  'test/integration/process-runtime/{running-processes,search-plans,statements}.int-spec.ts',
  'test/integration/systems/{conditional-changes,list-systems,system-tags}.int-spec.ts',
  'test/integration/tools/concurrency.int-spec.ts',
  'test/integration/ui-action/double-clicks.int-spec.ts',
  'test/integration/workflows/{call-journal,workflow-usage}.int-spec.ts',
];

/**
 * Subset of SERVER_TESTS in which MariaDB can differ from MySQL: lock waits, lost races, plans, JSON and characters.
 */
const MARIADB_TESTS = [
  'test/integration/database/{id-blocks,migration-lock,several-writers,write-groups}.int-spec.ts',
  'test/integration/jobs/*.int-spec.ts',
  'test/integration/builds/races.int-spec.ts',
  'test/integration/http/request-body.int-spec.ts',
  'test/integration/process-runtime/{instance-search,process-statistics,running-processes,search-plans}.int-spec.ts',
  'test/integration/tools/concurrency.int-spec.ts',
  'test/integration/workflows/workflow-usage.int-spec.ts',
];

const INTEGRATION = 'test/integration/**/*.int-spec.ts';

/**
 * Tests for a sharded database: starts, UI actions, jobs, messages, calls and lists. The proof `vitess` counts the
 * shards used.
 */
const SHARDING_TESTS = [
  'test/integration/process-runtime/{background,background-starts,incidents,instance-lists,instance-search}.int-spec.ts',
  'test/integration/process-runtime/{running-processes,start-process}.int-spec.ts',
  'test/integration/ui-action/repeated-actions.int-spec.ts',
  'test/integration/workflows/workflow-runs.int-spec.ts',
];

/**
 * More shard groups than the two Vitess shards: each transaction must stay within one group, so shards can be split
 * later.
 */
const SHARD_GROUPS = '8';

/** Returns the project of integration tests on one database. Each worker has its own database. */
function integration(database: string, all: readonly string[]): TestProjectConfiguration {
  return project(all.length === 1 ? 'integration' : `integration-${database}`, {
    ...filesOn(database, all),
    env: { TEST_DATABASE: database, ...(database === 'vitess' ? { TEST_SHARDS: SHARD_GROUPS } : {}) },
  });
}

/**
 * Selects the test files for a database. Without TEST_MATRIX each file runs once: SERVER_TESTS on a server, all others
 * on the embedded database. `all` runs every applicable file; `rest` runs each file on the databases it skipped without
 * a matrix, and NETWORK_TESTS again. A database tested alone runs all files.
 */
function filesOn(database: string, all: readonly string[]): { include: string[]; exclude: string[] } {
  const matrix = process.env['TEST_MATRIX'];
  const allExcept = (...exclude: string[]) => ({
    include: [INTEGRATION],
    exclude: [DRIVERLESS_TEST, ...exclude],
  });
  if (database === 'vitess') {
    return { include: SHARDING_TESTS, exclude: [] };
  }
  if (all.length === 1) {
    return allExcept();
  }
  if (database === 'embedded') {
    return matrix === 'rest'
      ? { include: [...SERVER_TESTS, ...NETWORK_TESTS], exclude: [DRIVERLESS_TEST] }
      : allExcept(...(matrix === 'all' ? [] : SERVER_TESTS));
  }
  if (database === 'mariadb') {
    return { include: MARIADB_TESTS, exclude: [] };
  }
  if (matrix === undefined) {
    return { include: SERVER_TESTS, exclude: [] };
  }
  return allExcept(...SAME_ON_EVERY_DATABASE, ...(matrix === 'rest' ? SERVER_TESTS : []));
}

function project(
  name: string,
  { include, exclude = [], env }: { include: string[]; exclude?: string[]; env: Record<string, string> },
): TestProjectConfiguration {
  return {
    plugins,
    resolve: { alias: PACKAGES },
    test: {
      name,
      isolate: false,
      server: { deps: { external: [/\/dist\//] } },
      include,
      exclude,
      globalSetup: ['test/support/global-setup.ts'],
      setupFiles: ['reflect-metadata', PATIENCE, 'test/support/setup.ts'],
      env: { NODE_ENV: 'test', SVC_HOME: import.meta.dirname, ...env },
      ...TIMEOUTS,
    },
  };
}

/** Runs files that share their worker's application first, grouped by their environment variables. */
export class SharedFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's method, not Array.prototype.sort
    const sorted = await super.sort(files);
    const ranks = new Map(sorted.map((file) => [file, rank(readFileSync(file.moduleId, 'utf8'))]));
    return sorted.toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
  }
}

function rank(text: string): number {
  const [call] = /TestApp\.shared\([^;]*/.exec(text) ?? [];
  return call === undefined ? 2 : call.includes('JOBS_CONCURRENCY') ? 1 : 0;
}

const databases = (process.env['TEST_DATABASE'] ?? 'embedded').split(',');

/**
 * Projects: `unit` tests single modules. `integration` tests the whole application over HTTP, and single components
 * against external parties, on the database named by TEST_DATABASE (with several databases, one project `integration-…`
 * each). `driverless` contains the one file that needs its own process. `shards` runs the job tests on the embedded
 * database with 8 shard groups. `suites` are proofs: hostile parties, slow servers, stops. VITEST_MAX_WORKERS overrides
 * the number of workers.
 */
export default defineConfig({
  test: {
    maxWorkers: WORKERS_PER_CORE * availableParallelism(),
    sequence: { sequencer: SharedFirst },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'migrations/**/*.ts', 'packages/engine/src/**/*.ts'],
      exclude: ['**/*.spec.ts', 'src/**/*.cli.ts', 'src/main.ts', 'src/evaluation/main.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { lines: 85, functions: 85 },
    },
    projects: [
      {
        plugins,
        resolve: { alias: PACKAGES },
        test: {
          name: 'unit',
          isolate: false,
          server: { deps: { external: [/\/dist\//] } },
          include: ['{src,migrations,test/unit,packages/client/src}/**/*.spec.ts'],
          setupFiles: ['reflect-metadata', PATIENCE],
          ...TIMEOUTS,
        },
      },
      {
        plugins,
        test: {
          name: 'engine',
          isolate: false,
          include: ['packages/engine/**/*.spec.ts'],
          setupFiles: [PATIENCE],
          ...TIMEOUTS,
        },
      },
      {
        resolve: { alias: PACKAGES },
        test: {
          name: 'driverless',
          include: [DRIVERLESS_TEST],
          setupFiles: ['reflect-metadata', PATIENCE],
          env: { NODE_ENV: 'test' },
          ...TIMEOUTS,
        },
      },
      ...databases.map((database) => integration(database, databases)),
      project('shards', {
        // The tests' own transactions touch several shards, which Vitess rejects; the service's transactions do not.
        include: ['test/integration/jobs/*.int-spec.ts'],
        env: { TEST_DATABASE: 'embedded', TEST_SHARDS: SHARD_GROUPS },
      }),
      project('suites', {
        include: ['tools/proofs/suites/**/*.int-spec.ts', APPLICATION_TESTS],
        env: { TEST_DATABASE: databases[0] ?? 'embedded' },
      }),
    ],
  },
});
