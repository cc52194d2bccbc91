import { EnvError } from '../../src/platform/config/env.js';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, createSealed, openSecret } from './support/api-client.js';
import { doNumbered, prove, type Proof } from './support/proof.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { rows } from './support/rows.js';
import { ServiceProcess } from './support/service-process.js';

const CLI = 'dist/src/rotate-secrets.cli.js';
const CALLERS = 5;
/** Maximum additional kills if no kill has interrupted the command so far. */
const MAX_EXTRA_KILLS = 20;
const PAUSE_MS = 50;

export const proof: Proof = {
  name: 'rotation',
  claim:
    'secrets are re-encrypted under load; the rotation survives kill -9, and the old key can then be removed',
  databases: ['embedded', 'mariadb', 'mysql'],
  // A value is replaced by one UPDATE by primary key: no lock and no JSON, so MariaDB does not differ.
  shortDatabases: ['mysql'],
  async run(environment) {
    const count = environment.short ? 200 : 5_000;
    const kills = environment.short ? 1 : 10;
    const databaseUrl = await environment.emptyDatabase();
    const keys = { old: newKey('old'), new: newKey('new') };
    await fill(environment, databaseUrl, { count, keys: keys.old });

    const both = `${keys.new},${keys.old}`;
    const service = await environment.startService(databaseUrl, settingsOf(both));
    const client = new ApiClient(service.url, await environment.token());
    const load = new Load(client);
    const running = load.run();
    const hits = await killDuringRotation(load, { databaseUrl, keys, kills });
    const output = await rotate(databaseUrl, both);
    load.running = false;
    await running;
    await client.close();
    prove(hits > 0, 'no kill interrupted the command, so the proof is inconclusive');
    prove((await countEncryptedWith(databaseUrl, 'old')) === 0, 'values encrypted with the old key remain');
    await expectOldKeyGone(environment, databaseUrl, keys);
    return `${count} secrets, ${hits} x kill -9 during rotation, ${load.answered} requests meanwhile, 0 x 500; finally: ${output}`;
  },
};

/** Repeatedly decrypts a stored secret and encrypts another one. */
class Load {
  running = true;
  answered = 0;

  constructor(private readonly client: ApiClient) {}

  /** Sends requests until `running` is false. Rejects when a request fails. */
  run(): Promise<unknown> {
    const load = Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.call(caller)));
    // The failure is reported where the load is awaited; here it only stops the others.
    load.catch(() => {
      this.running = false;
    });
    return load;
  }

  private async call(caller: number): Promise<void> {
    for (let count = 0; this.running; count += 1) {
      await openSecret(this.client, caller);
      await createSealed(this.client, `load-${caller}-${count}`, 1_000_000 + caller);
      this.answered += 2;
      await sleep(PAUSE_MS);
    }
  }
}

/** Creates systems with one secret each, encrypted with one key. */
async function fill(
  environment: ProofEnvironment,
  databaseUrl: string,
  { count, keys }: { count: number; keys: string },
): Promise<void> {
  const service = await environment.startService(databaseUrl, settingsOf(keys));
  const client = new ApiClient(service.url, await environment.token());
  await doNumbered(count, 20, (index) => createSealed(client, `rotation-${index}`, index));
  await client.close();
  await service.kill('SIGTERM');
  prove(
    (await countEncryptedWith(databaseUrl, 'old')) === count,
    'not every secret was encrypted with the old key',
  );
}

/**
 * Kills the command at different times, until at least one kill has interrupted it.
 * @returns the number of kills that interrupted it
 */
async function killDuringRotation(
  load: Load,
  { databaseUrl, keys, kills }: { databaseUrl: string; keys: { old: string; new: string }; kills: number },
): Promise<number> {
  let hits = 0;
  for (let kill = 1; kill <= kills || (hits === 0 && kill <= kills + MAX_EXTRA_KILLS); kill += 1) {
    if (!load.running) {
      break;
    }
    if ((await countEncryptedWith(databaseUrl, 'old')) === 0) {
      // The command finished before the kill, so rotate back to give it work again.
      await rotate(databaseUrl, `${keys.old},${keys.new}`);
    }
    const share = kill <= kills ? 1 / (kills - kill + 2) : Math.random();
    const isHit = await killPartway(databaseUrl, `${keys.new},${keys.old}`, share);
    hits += isHit ? 1 : 0;
  }
  return hits;
}

/**
 * Starts the command and kills it when the given share of the values is encrypted with the new key.
 * @returns whether the kill interrupted it after some values, but not all
 */
async function killPartway(databaseUrl: string, keys: string, share: number): Promise<boolean> {
  const before = await countEncryptedWith(databaseUrl, 'old');
  const command = await launchCommand(databaseUrl, keys);
  while (!command.hasEnded && (await countEncryptedWith(databaseUrl, 'old')) > before * (1 - share)) {
    await sleep(5);
  }
  const end = await command.kill('SIGKILL');
  const left = await countEncryptedWith(databaseUrl, 'old');
  return end === 'SIGKILL' && left > 0 && left < before;
}

/** Runs the command. Returns its output. */
async function rotate(databaseUrl: string, keys: string): Promise<string> {
  const command = await launchCommand(databaseUrl, keys);
  const status = await command.ended();
  prove(status === 0, `the command ended with ${status}: ${command.outputTail}`);
  return command.outputTail.trim();
}

function launchCommand(databaseUrl: string, keys: string): Promise<ServiceProcess> {
  return ServiceProcess.launch({ NODE_ENV: 'test', DATABASE_URL: databaseUrl, SECRETS_KEYS: keys }, CLI);
}

async function expectOldKeyGone(
  environment: ProofEnvironment,
  databaseUrl: string,
  keys: { old: string; new: string },
): Promise<void> {
  const service = await environment.startService(databaseUrl, settingsOf(keys.new));
  const client = new ApiClient(service.url, await environment.token());
  await openSecret(client, 0);
  await client.close();
  const refused = await environment.launchService(databaseUrl, settingsOf(keys.old));
  const status = await refused.ended();
  prove(status === EnvError.exitCode, `a service with the old key alone ended with ${status}`);
}

async function countEncryptedWith(databaseUrl: string, keyId: string): Promise<number> {
  const sql = `SELECT COUNT(*) AS found FROM systems WHERE client_secret LIKE 'svc_.${keyId}.%'`;
  return Number((await rows(databaseUrl, sql))[0]?.['found']);
}

function settingsOf(keys: string): Record<string, string> {
  return { SECRETS_KEYS: keys, EGRESS_ALLOW: '127.0.0.1' };
}

function newKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}
