import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProofEnvironment } from '../proofs/support/proof-environment.js';
import type { Proof } from '../proofs/support/proof.js';
import type { DatabaseKind } from '../../test/support/databases/server-program.js';
import { processFolder, exitOnSignals } from '../../test/support/databases/process-resources.js';
import {
  startDatabases,
  type StartedDatabases,
  type TestDatabase,
} from '../../test/support/databases/start-databases.js';
import { tallyLine, type Tally } from './tally.js';
import { scriptOptions } from './options.js';

/**
 * Builds the service and runs the long proofs in tools/proofs against it. Prints one table row per proof and database.
 *
 *     npm run prove                                  all of them, full length
 *     npm run prove -- --short                       few rounds, several concurrently, as in CI
 *     npm run prove -- race crash --db mysql         some of them, on one database
 *
 * Ends with `N passed, N failed`. Proofs on an unavailable database are skipped, or fail if CI is set.
 */
const { values, positionals } = scriptOptions({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    db: { type: 'string', multiple: true },
  },
});
exitOnSignals();
if (spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' }).status !== 0) {
  console.log(tallyLine({ passed: 0, failed: 1, skipped: 0 }));
  process.exit(1);
}

/** A proof on one database. */
interface Run {
  proof: Proof;
  kind: DatabaseKind;
}
/** Number of concurrent short runs, which mostly wait: at most one test suite and some other proofs. */
const CONCURRENT_RUNS = 3;
const wantedKinds = values.db?.flatMap((value) => value.split(','));
const total: Tally = { passed: 0, failed: 0, skipped: 0 };

const proofs = (await loadProofs()).filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name),
);
const runs: readonly Run[] = proofs.flatMap((proof) =>
  (values.short ? (proof.shortDatabases ?? proof.databases) : proof.databases)
    .filter((kind) => wantedKinds === undefined || wantedKinds.includes(kind))
    .map((kind) => ({ proof, kind })),
);
const servers = new Map<string, Promise<StartedDatabases>>();
/** Exclusive resources in use: a server that a proof kills, or the processors, which a test suite saturates. */
const resourcesInUse = new Set<string>();
// Short runs start with the longest. Long runs are sequential, so that they do not distort each other's figures.
const waiting = values.short ? runs.toSorted((one, other) => rank(one) - rank(other)) : [...runs];
await Promise.all(Array.from({ length: values.short ? CONCURRENT_RUNS : 1 }, runInTurn));
await Promise.all([...servers.values()].map(stopAll));
console.log(tallyLine(total));
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

/** Returns the priority of a run. Runs that need an exclusive resource wait for each other, so they start first. */
function rank(run: Run): number {
  return exclusiveResource(run) === undefined ? (run.proof.takesLong ? 1 : 2) : 0;
}

/** Returns the resource that a run needs exclusively; undefined if it can share everything. */
function exclusiveResource({ proof, kind }: Run): string | undefined {
  return proof.isSuite ? 'processors' : proof.needsOwnServer && kind !== 'embedded' ? kind : undefined;
}

/** Runs waiting proofs, skipping those whose exclusive resource is in use; its current user picks them up later. */
async function runInTurn(): Promise<void> {
  for (;;) {
    const run = waiting.find((each) => !resourcesInUse.has(exclusiveResource(each) ?? ''));
    if (run === undefined) {
      return;
    }
    waiting.splice(waiting.indexOf(run), 1);
    const { proof, kind } = run;
    const resource = exclusiveResource(run);
    if (resource !== undefined) {
      resourcesInUse.add(resource);
    }
    await runOne(proof, kind, await serversFor(kind, { fast: values.short && resource !== kind }));
    if (resource !== undefined) {
      resourcesInUse.delete(resource);
    }
  }
}

/**
 * Starts servers. Runs that kill their server get a separate one; all others can use a server that does not flush to disk.
 */
function serversFor(kind: DatabaseKind, options: { fast: boolean }): Promise<StartedDatabases> {
  const key = `${kind} ${options.fast}`;
  const started = servers.get(key) ?? startDatabases(kind === 'embedded' ? [] : [kind], options);
  servers.set(key, started);
  return started;
}

async function stopAll(started: Promise<StartedDatabases>): Promise<void> {
  await Promise.all((await started).databases.map((server) => server.stop()));
}

async function loadProofs(): Promise<Proof[]> {
  const folder = new URL('../proofs/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.prove.ts'));
  const modules = await Promise.all(
    files.toSorted().map((name) => import(new URL(name, folder).href) as Promise<{ proof: Proof }>),
  );
  return modules.map(({ proof }) => proof);
}

async function runOne(proof: Proof, kind: DatabaseKind, started: StartedDatabases): Promise<void> {
  const server = started.databases.find((database) => database.kind === kind);
  const missing = kind === 'embedded' ? undefined : obstacleOf(proof, kind, { server, started });
  const obstacle = missing ?? (await proof.obstacle?.());
  if (obstacle === undefined) {
    await measure(proof, kind, server);
  } else {
    const outcome = process.env['CI'] ? 'failed' : 'skipped';
    total[outcome] += 1;
    row(proof.name, kind, outcome, '', obstacle);
  }
}

function obstacleOf(
  proof: Proof,
  kind: DatabaseKind,
  { server, started }: { server: TestDatabase | undefined; started: StartedDatabases },
): string | undefined {
  if (server === undefined) {
    return started.missing.find((missing) => missing.kind === kind)?.reason ?? 'not started';
  }
  return proof.needsOwnServer && !server.owned ? 'requires its own server' : undefined;
}

async function measure(proof: Proof, kind: DatabaseKind, server: TestDatabase | undefined): Promise<void> {
  const folder = await processFolder(join(tmpdir(), 'svc-prove'));
  const environment = await ProofEnvironment.create(kind, { short: values.short, server, folder });
  const start = performance.now();
  const seconds = (): string => `${((performance.now() - start) / 1_000).toFixed(1)} s`;
  const figures = await proof.run(environment).catch((error: unknown) => ({ error }));
  const time = seconds();
  await environment.end();
  await rm(folder, { recursive: true, force: true });
  if (typeof figures === 'string') {
    total.passed += 1;
    row(proof.name, kind, 'passed', time, figures);
  } else {
    total.failed += 1;
    row(proof.name, kind, 'failed', time, proof.claim);
    console.error(figures.error);
    environment.outputs.forEach((output) => console.error(output));
  }
}

function row(name: string, kind: string, outcome: string, time: string, text: string): void {
  console.log(`${name.padEnd(12)} ${kind.padEnd(9)} ${outcome.padEnd(8)} ${time.padStart(8)}  ${text}`);
}
