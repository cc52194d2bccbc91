import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from './support/api-client.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import type { ServiceProcess } from './support/service-process.js';

const CALLERS = 10;
/** Pause between requests of a caller; ten callers make about fifty requests per second. */
const PAUSE_MS = 200;
const RUNNING_MS = 1_000;
const DOWN_MS = 1_000;
const MAX_RECOVERY_MS = 5_000;
/** Same for short runs, which share the processors with other proofs. */
const SHARED_MACHINE_MAX_RECOVERY_MS = 60_000;

/** Responses that the callers received. */
interface Responses {
  acknowledged: Map<string, string>;
  errors: number;
  lastSuccess: number;
}

export const proof: Proof = {
  name: 'db-crash',
  claim:
    'kill -9 of the database server loses no acknowledged system and the service recovers without a restart',
  databases: ['mariadb', 'mysql'],
  shortDatabases: ['mariadb'],
  needsOwnServer: true,
  async run(environment) {
    const crashes = environment.short ? 1 : 10;
    const service = await environment.startService(await environment.emptyDatabase());
    const client = new ApiClient(service.url, await environment.token());
    const responses: Responses = { acknowledged: new Map(), errors: 0, lastSuccess: 0 };
    const load = new Load(client, responses);
    const running = load.run();
    const recoveries: number[] = [];
    for (let crash = 0; crash < crashes && load.running; crash += 1) {
      recoveries.push(await crashAndRecover(environment, responses));
    }
    load.running = false;
    await running;
    await checkStored(service, client, responses);
    await client.close();
    return (
      `${crashes} crashes: ${responses.acknowledged.size} acknowledged, 0 lost, ${responses.errors} x 500 or 503, ` +
      `first success at most ${Math.max(...recoveries).toFixed(0)} ms after the server was back`
    );
  },
};

class Load {
  running = true;

  constructor(
    private readonly client: ApiClient,
    private readonly responses: Responses,
  ) {}

  /** Creates systems until `running` is false. Rejects on a response other than 201 or a well-formed 500 or 503. */
  run(): Promise<unknown> {
    const load = Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.call(caller)));
    // The failure is reported where the load is awaited; here it only stops further crashes.
    load.catch(() => {
      this.running = false;
    });
    return load;
  }

  private async call(caller: number): Promise<void> {
    for (let count = 0; this.running; count += 1) {
      const name = `db-crash-${caller}-${count}`;
      const { status, body } = await this.client.create(name);
      if (status === 201) {
        this.responses.acknowledged.set(name, String(body['id']));
        this.responses.lastSuccess = performance.now();
      } else {
        prove(
          (status === 500 || status === 503) &&
            body['status'] === status &&
            typeof body['message'] === 'string',
          `create answered ${status}: ${JSON.stringify(body)}`,
        );
        this.responses.errors += 1;
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** Kills and restarts the server. Returns the milliseconds from its restart to the first success of a caller. */
async function crashAndRecover({ server, short }: ProofEnvironment, responses: Responses): Promise<number> {
  await sleep(RUNNING_MS);
  await server?.kill('SIGKILL');
  await sleep(DOWN_MS);
  await server?.restart();
  const back = performance.now();
  const longest = short ? SHARED_MACHINE_MAX_RECOVERY_MS : MAX_RECOVERY_MS;
  while (responses.lastSuccess < back) {
    prove(performance.now() - back < longest, `no success within ${longest} ms`);
    await sleep(10);
  }
  return responses.lastSuccess - back;
}

async function checkStored(service: ServiceProcess, client: ApiClient, responses: Responses): Promise<void> {
  prove(!service.hasEnded, 'the service ended');
  const { body } = await client.list();
  const stored = body['systems'] as { id: string; name: string }[];
  const ids = new Map(stored.map(({ id, name }) => [name, id]));
  prove(ids.size === stored.length, 'a system is duplicated');
  for (const [name, id] of responses.acknowledged) {
    prove(ids.get(name) === id, `${name} was acknowledged but is lost`);
  }
}
