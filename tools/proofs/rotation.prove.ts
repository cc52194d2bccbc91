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
/** Tries after those that were wanted, in case no kill has hit the command at work. */
const MOST_MORE_KILLS = 20;
const PAUSE_MS = 50;

export const proof: Proof = {
  name: 'rotation',
  claim: 'secrets are sealed anew under load; the rotation survives kill -9 and makes the old key removable',
  databases: ['embedded', 'mariadb', 'mysql'],
  // A value is replaced by one UPDATE by primary key: no lock, no JSON, nothing that MariaDB does otherwise.
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
    const hits = await killAtWork(load, { databaseUrl, keys, kills });
    const output = await rotate(databaseUrl, both);
    load.running = false;
    await running;
    await client.close();
    prove(hits > 0, 'no kill hit the command at work, so nothing was proved');
    prove((await sealedWith(databaseUrl, 'old')) === 0, 'values under the old key are left');
    await expectOldKeyGone(environment, databaseUrl, keys);
    return `${count} secrets, ${hits} x kill -9 at work, ${load.answered} requests meanwhile, 0 x 500; at last: ${output}`;
  },
};

/** Opens a stored secret, and seals another one, again and again. */
class Load {
  running = true;
  answered = 0;

  constructor(private readonly client: ApiClient) {}

  /** Rejects when one of the requests was not answered well. */
  run(): Promise<unknown> {
    const load = Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.call(caller)));
    // The failure is reported where the load is awaited; here it only ends the others.
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

/** Creates systems with a secret each, sealed with one key. */
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
  prove((await sealedWith(databaseUrl, 'old')) === count, 'not every secret was sealed with the old key');
}

/**
 * Kills the command at different moments, and goes on until one kill has hit it at work.
 * @returns how many did
 */
async function killAtWork(
  load: Load,
  { databaseUrl, keys, kills }: { databaseUrl: string; keys: { old: string; new: string }; kills: number },
): Promise<number> {
  let hits = 0;
  for (let kill = 1; kill <= kills || (hits === 0 && kill <= kills + MOST_MORE_KILLS); kill += 1) {
    if (!load.running) {
      break;
    }
    if ((await sealedWith(databaseUrl, 'old')) === 0) {
      // The command was quicker than the kill: it gets its work back.
      await rotate(databaseUrl, `${keys.old},${keys.new}`);
    }
    const part = kill <= kills ? 1 / (kills - kill + 2) : Math.random();
    const isHit = await killInTheMiddle(databaseUrl, `${keys.new},${keys.old}`, part);
    hits += isHit ? 1 : 0;
  }
  return hits;
}

/**
 * Starts the command and kills it once this part of the values under the old key is under the new one.
 * @returns whether it was running and had sealed some values anew, but not all
 */
async function killInTheMiddle(databaseUrl: string, keys: string, part: number): Promise<boolean> {
  const before = await sealedWith(databaseUrl, 'old');
  const command = await launchCommand(databaseUrl, keys);
  while (!command.hasEnded && (await sealedWith(databaseUrl, 'old')) > before * (1 - part)) {
    await sleep(5);
  }
  const end = await command.kill('SIGKILL');
  const left = await sealedWith(databaseUrl, 'old');
  return end === 'SIGKILL' && left > 0 && left < before;
}

/** @returns what the command printed */
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

async function sealedWith(databaseUrl: string, keyId: string): Promise<number> {
  const sql = `SELECT COUNT(*) AS found FROM systems WHERE client_secret LIKE 'svc_.${keyId}.%'`;
  return Number((await rows(databaseUrl, sql))[0]?.['found']);
}

function settingsOf(keys: string): Record<string, string> {
  return { SECRETS_KEYS: keys, EGRESS_ALLOW: '127.0.0.1' };
}

function newKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`;
}
