import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvError } from '../../src/platform/config/env.js';
import { dropDatabase, scratchDatabase } from '../../test/support/databases/start-databases.js';
import { ApiClient, createSealed, openSecret } from './support/api-client.js';
import { dumpDatabase, restoreDatabase } from './support/database-dump.js';
import { doNumbered, prove, type Proof } from './support/proof.js';
import { CHECK, ORDER } from './support/process-models.js';
import { Orders } from './support/process-orders.js';
import { ProcessRows } from './support/process-rows.js';
import { ProcessSite } from './support/process-site.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { ServiceProcess } from './support/service-process.js';

const CALLERS = 8;
const FINISH_TIMEOUT_MS = 180_000;

export const proof: Proof = {
  name: 'restore',
  claim:
    'a dump taken under load and SECRETS_KEYS restore, after a total loss, everything acknowledged before; waiting instances continue',
  databases: ['mariadb', 'mysql'],
  // Each database has its own dump program; short runs test the reference one.
  shortDatabases: ['mysql'],
  async run(environment) {
    const [secrets, steps] = environment.short ? [20, 60] : [1_000, 3_000];
    const file = join(environment.folder, 'dump.sql');
    const site = await ProcessSite.open(environment, { EGRESS_ALLOW: '127.0.0.1' });
    const build = await site.client.publish({ order: ORDER, check: CHECK });
    const orders = new Orders(build, () => site);
    await runOrders(orders, steps);
    const written = await dumpUnderLoad(environment, site, { secrets, file });

    await site.kill();
    await loseAndRestore(environment, site, file);
    await site.restart();
    await expectSchema(environment, site.databaseUrl);
    await expectSecrets(environment, site, secrets);
    await orders.finish(CALLERS, FINISH_TIMEOUT_MS);
    await site.waitForJobs();
    const stored = (await site.rows.instances()).filter(({ row }) => row.processName === 'order');
    prove(
      stored.length === orders.all.length && stored.every(({ row }) => row.state === 'FINISHED'),
      `${stored.length} instances for ${orders.all.length} orders, or some have not ended`,
    );
    await site.close();
    return (
      `${(statSync(file).size / 1e6).toFixed(1)} MB dumped during ${written} writes; ${secrets} secrets decrypted, ${stored.length} orders ` +
      `completed after the restore, 0 lost; without the key the service refuses to start`
    );
  },
};

/** Runs orders and leaves them at all stages. */
async function runOrders(orders: Orders, steps: number): Promise<void> {
  const work = orders.run(CALLERS);
  while (orders.acknowledged < steps) {
    await Promise.race([work, sleep(20)]);
  }
  orders.pause();
  await work;
}

/** Dumps the database under load. Returns the number of writes acknowledged during the dump. */
async function dumpUnderLoad(
  environment: ProofEnvironment,
  site: ProcessSite,
  { secrets, file }: { secrets: number; file: string },
): Promise<number> {
  const api = new ApiClient(site.url, await environment.token());
  await doNumbered(secrets, CALLERS, (index) => createSealed(api, `restore-${index}`, index));
  const state = { isDone: false, written: 0 };
  const writing = (async () => {
    while (!state.isDone) {
      await createSealed(api, `concurrent-${state.written}`, 1_000_000 + state.written);
      state.written += 1;
    }
  })();
  await dumpDatabase(serverKind(environment), site.databaseUrl, file);
  state.isDone = true;
  await writing;
  await api.close();
  return state.written;
}

/** Drops the database and restores the dump into a new one of the same name. */
async function loseAndRestore(environment: ProofEnvironment, site: ProcessSite, file: string): Promise<void> {
  const { server } = environment;
  const name = new URL(site.databaseUrl).pathname.slice(1);
  await site.rows.close();
  await dropDatabase(server?.url ?? '', name);
  await scratchDatabase(server?.url ?? '', name);
  await restoreDatabase(serverKind(environment), site.databaseUrl, file);
  site.rows = await ProcessRows.open(site.databaseUrl);
}

async function expectSchema(environment: ProofEnvironment, databaseUrl: string): Promise<void> {
  const command = [process.execPath, 'dist/src/migration.cli.js', 'check'];
  const check = await ServiceProcess.run(command, environment.settings(databaseUrl));
  prove((await check.ended()) === 0, `the restored tables differ: ${check.outputTail}`);
}

async function expectSecrets(
  environment: ProofEnvironment,
  site: ProcessSite,
  secrets: number,
): Promise<void> {
  const api = new ApiClient(site.url, await environment.token());
  await doNumbered(secrets, CALLERS, (index) => openSecret(api, index));
  await api.close();
  const other = { SECRETS_KEYS: `other:${randomBytes(32).toString('base64')}` };
  const refused = await environment.launchService(site.databaseUrl, other);
  const status = await refused.ended();
  prove(status === EnvError.exitCode, `a service without the key ended with ${status}`);
}

function serverKind({ kind }: ProofEnvironment): 'mariadb' | 'mysql' {
  prove(kind !== 'embedded', 'the embedded database is backed up by copying its file');
  return kind;
}
