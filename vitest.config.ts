import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { builtModules } from './test/support/built.js';

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

/** Tests of applications, with a service of their own. They import the client package by its name. */
const OF_APPLICATIONS = 'sample/tests/**/*.test.ts';
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

/** Takes drivers away from its whole process: the project `driverless`. */
const HIDES_DRIVERS = 'test/integration/discovery-probes/drivers.int-spec.ts';

/**
 * What never reaches the tables, comes before them or beside them, with statements that other tests hold on each database.
 * The matrix runs it on the first of several databases only.
 */
const SAME_ON_EVERY_DATABASE = [
  // Single parts against outside parties.
  'test/integration/{auth,discovery-probes,mcp-connection}/**/*.int-spec.ts',
  'test/integration/client/connections.int-spec.ts',
  'test/integration/discovery/sources/**/*.int-spec.ts',
  // Messages, headers, limits and the document of routes: refused or answered before a service reads a row. Not
  // `request-body`, which stores characters and numbers.
  'test/integration/http/!(request-body).int-spec.ts',
  'test/integration/openapi.int-spec.ts',
  // Calls of models, tools and endpoints; `agent-process`, `resolution`, `preflight` and `workflows` hold what they store.
  'test/integration/agents/sample-agent*.int-spec.ts',
  'test/integration/rest-endpoints/**/*.int-spec.ts',
  // The sample: a caller of routes that `builds` holds.
  'test/integration/packages/**/*.int-spec.ts',
  // Which traces are recorded; `traces` has their statements.
  'test/integration/tracing/sampling.int-spec.ts',
  // Bodies and paths that are refused. What depends on collations or widths of columns is in the main files of the routes.
  'test/integration/{systems,tools}/*-refusals.int-spec.ts',
  // Pages, files for deployment, the document's own page.
  'test/integration/{console,deploy}/**/*.int-spec.ts',
  'test/integration/api-docs.int-spec.ts',
  // What a package, a credential, an address, an answer or an expression may be; `store-package`, `create-system`, `synchronisation` and
  // `start-process` have their statements.
  'test/integration/builds/{outdated-package,package-problems}.int-spec.ts',
  'test/integration/systems/{api-keys,certificates,plain-http,private-keys,static-headers,token-options}.int-spec.ts',
  'test/integration/tools/{connection-test,egress-applications,server-description}.int-spec.ts',
  'test/integration/process-runtime/{documented-examples,failing-expressions,order-of-checks,step-warnings,stuck-joins}.int-spec.ts',
];

/** What a database server can do otherwise than the embedded database: locks, races, collations, plans, batches, orders of lists. */
const OF_SERVERS = [
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

/** Of those, what MariaDB can do otherwise than MySQL: waits for locks, lost races, plans, and what it makes of JSON and characters. */
const OF_MARIADB = [
  'test/integration/database/{id-blocks,migration-lock,several-writers,write-groups}.int-spec.ts',
  'test/integration/jobs/*.int-spec.ts',
  'test/integration/builds/races.int-spec.ts',
  'test/integration/http/request-body.int-spec.ts',
  'test/integration/process-runtime/{instance-search,process-statistics,running-processes,search-plans}.int-spec.ts',
  'test/integration/tools/concurrency.int-spec.ts',
  'test/integration/workflows/workflow-usage.int-spec.ts',
];

const INTEGRATION = 'test/integration/**/*.int-spec.ts';

/** What a sharded database is asked for: starts, UI actions, jobs, messages, calls and lists. The proof `vitess` counts shards of each. */
const OF_SHARDS = [
  'test/integration/process-runtime/{background*,incidents,instance-lists,instance-operations,instance-search}.int-spec.ts',
  'test/integration/process-runtime/{running-processes,start-process}.int-spec.ts',
  'test/integration/ui-action/repeated-actions.int-spec.ts',
  'test/integration/workflows/workflow-runs.int-spec.ts',
];

/** More groups than the two shards of Vitess: every transaction must stay within one, so the database can be split further. */
const GROUPS_OF_SHARDS = '8';

/** Integration tests on one database; each worker has a database of its own. */
function integration(database: string, all: readonly string[]): TestProjectConfiguration {
  return project(all.length === 1 ? 'integration' : `integration-${database}`, {
    ...filesOn(database, all),
    env: { TEST_DATABASE: database, ...(database === 'vitess' ? { TEST_SHARDS: GROUPS_OF_SHARDS } : {}) },
  });
}

/**
 * Without a matrix each file runs once: on a server what a server can treat otherwise, all others on the embedded database.
 * Of the matrix, `rest` runs each file on the databases that it did not run on then, or again where there is no other. A database
 * that is alone has all.
 */
function filesOn(database: string, all: readonly string[]): { include: string[]; exclude: string[] } {
  const matrix = process.env['TEST_MATRIX'];
  const but = (...exclude: string[]) => ({ include: [INTEGRATION], exclude: [HIDES_DRIVERS, ...exclude] });
  if (database === 'vitess') {
    return { include: OF_SHARDS, exclude: [] };
  }
  if (all.length === 1) {
    return but();
  }
  if (database === 'embedded') {
    return matrix === 'rest'
      ? { include: [...OF_SERVERS, ...SAME_ON_EVERY_DATABASE], exclude: [HIDES_DRIVERS] }
      : but(...(matrix === 'all' ? [] : OF_SERVERS));
  }
  if (database === 'mariadb') {
    return { include: OF_MARIADB, exclude: [] };
  }
  if (matrix === undefined) {
    return { include: OF_SERVERS, exclude: [] };
  }
  return but(...SAME_ON_EVERY_DATABASE, ...(matrix === 'rest' ? OF_SERVERS : []));
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
      ...PATIENT,
    },
  };
}

/** Runs the files first that share the application of their worker, those with the same variables together. */
export class SharedFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of vitest, not of arrays
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
 * `unit` runs beside the code. `integration` drives the whole application over HTTP, and single parts against outside
 * parties, on the database that TEST_DATABASE names; of several, each has a project `integration-…`. `driverless` is the one
 * file that needs a process of its own. `shards` runs the tests of jobs on the embedded database with 8 groups of shards. `suites` are
 * proofs: hostile parties, slow servers, stops. VITEST_MAX_WORKERS sets another number of workers.
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
          ...PATIENT,
        },
      },
      {
        plugins,
        test: {
          name: 'engine',
          isolate: false,
          include: ['packages/engine/**/*.spec.ts'],
          setupFiles: [PATIENCE],
          ...PATIENT,
        },
      },
      {
        resolve: { alias: PACKAGES },
        test: {
          name: 'driverless',
          include: [HIDES_DRIVERS],
          setupFiles: ['reflect-metadata', PATIENCE],
          env: { NODE_ENV: 'test' },
          ...PATIENT,
        },
      },
      ...databases.map((database) => integration(database, databases)),
      project('shards', {
        // The transactions of these tests, not of the service, touch several shards, which Vitess refuses.
        include: ['test/integration/jobs/*.int-spec.ts'],
        env: { TEST_DATABASE: 'embedded', TEST_SHARDS: GROUPS_OF_SHARDS },
      }),
      project('suites', {
        include: ['tools/proofs/suites/**/*.int-spec.ts', OF_APPLICATIONS],
        env: { TEST_DATABASE: databases[0] ?? 'embedded' },
      }),
    ],
  },
});
