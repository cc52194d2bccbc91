import { setTimeout as sleep } from 'node:timers/promises';
import { startHttpPeer, type Peer } from '../../test/support/peers/peer.js';
import { ApiClient, type Answer } from './support/api-client.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import type { ServiceProcess } from './support/service-process.js';

const CALLERS = 20;
const READINESS_INTERVAL_MS = 100;
/** Long enough for the balancer to see that a replica is going away. */
const SHUTDOWN_DELAY_MS = 2_000;
const LONGEST_STOP_MS = 10_000;
/** Where others work on the same cores, as in a short round. */
const SHARED_MACHINE_STOP_MS = 60_000;
/** A connection test asks three times: longer in all than the grace time, so that it is under way behind its end. */
const SLOW_MS = 1_000;
const WITNESS_PAUSE_MS = 20;
/** Of a caller between two requests, where others work on the same cores. */
const SHORT_PAUSE_MS = 100;
const REFUSED = 503;

/** One replica as the load balancer knows it. */
interface Backend {
  service: ServiceProcess;
  client: ApiClient;
  ready: boolean;
}

export const proof: Proof = {
  name: 'stop',
  claim:
    'SIGTERM under load drops no request: replicas restarted in turn behind a load balancer answer all of them, slow ones too, and close each connection with its answer',
  databases: ['mariadb', 'mysql'],
  // A stop is a matter of connections to callers, not to the database.
  shortDatabases: ['mysql'],
  async run(environment) {
    const peer = await startHttpPeer((_request, response) => {
      setTimeout(() => response.writeHead(404).end(), SLOW_MS);
    });
    try {
      return await restartUnderLoad(environment, peer);
    } finally {
      await peer.close();
    }
  },
};

async function restartUnderLoad(environment: ProofEnvironment, slowPeer: Peer): Promise<string> {
  const restarts = environment.short ? 2 : 10;
  const balancer = new Balancer(environment, await environment.emptyDatabase(), slowPeer);
  balancer.backends = [await balancer.addBackend(), await balancer.addBackend()];
  const load = balancer.load();
  const stops: number[] = [];
  for (let restart = 0; restart < restarts && balancer.running; restart += 1) {
    await sleep(500);
    stops.push(await balancer.restartOldest());
  }
  balancer.running = false;
  await load;
  await Promise.all(balancer.backends.map(({ client }) => client.close()));
  return (
    `${restarts} restarts under ${balancer.answered} requests: 0 dropped, longest stop ${Math.max(...stops).toFixed(0)} ms; ` +
    `${balancer.witnessed} answers after SIGTERM: all close their connection`
  );
}

/** A minimal load balancer: asks each replica for its readiness and sends requests in turn to those that are ready. */
class Balancer {
  backends: Backend[] = [];
  running = true;
  answered = 0;
  /** Answers of replicas that were told to stop. */
  witnessed = 0;

  constructor(
    private readonly environment: ProofEnvironment,
    private readonly databaseUrl: string,
    private readonly slowPeer: Peer,
  ) {}

  async addBackend(): Promise<Backend> {
    const settings = {
      SHUTDOWN_DELAY_MS: String(SHUTDOWN_DELAY_MS),
      EGRESS_ALLOW: new URL(this.slowPeer.url).host,
    };
    const service = await this.environment.startService(this.databaseUrl, settings);
    const client = new ApiClient(service.url, await this.environment.token(), { connections: CALLERS });
    return { service, client, ready: true };
  }

  /** Lets every caller send requests until `running` is false; rejects when one of them was not answered well. */
  load(): Promise<unknown> {
    const callers = Array.from({ length: CALLERS }, (_, caller) => this.call(caller));
    const load = Promise.all([...callers, this.watch()]);
    // The failure is reported where the load is awaited; here it only ends the others.
    load.catch(() => {
      this.running = false;
    });
    return load;
  }

  private async watch(): Promise<void> {
    while (this.running) {
      await Promise.all(
        this.backends.map(async (backend) => {
          backend.ready = await backend.service.isReady();
        }),
      );
      await sleep(READINESS_INTERVAL_MS);
    }
  }

  /** Sends creates and reads; any broken connection or unexpected status fails the proof. */
  private async call(caller: number): Promise<void> {
    for (let count = 0; this.running; count += 1) {
      const ready = this.backends.filter((backend) => backend.ready);
      const backend = ready[(caller + count) % ready.length];
      prove(backend !== undefined, 'no replica was ready');
      const answer = await (count % 5 === 0
        ? backend.client.create(`stop-${caller}-${count}`)
        : backend.client.getById('unknown-system'));
      prove(answer.status === (count % 5 === 0 ? 201 : 404), `a request was answered ${answer.status}`);
      this.answered += 1;
      if (this.environment.short) {
        await sleep(SHORT_PAUSE_MS);
      }
    }
  }

  /**
   * Replaces the replica that runs longest, as a rolling update does.
   * @returns milliseconds from SIGTERM to the end of its process
   */
  async restartOldest(): Promise<number> {
    this.backends = [...this.backends, await this.addBackend()];
    const oldest = this.backends[0]!;
    const witness = new Witness(oldest, await this.environment.token(), this.slowPeer);
    await witness.begin();
    const start = performance.now();
    const [status] = await Promise.all([oldest.service.kill('SIGTERM'), witness.watchStop(start)]);
    const took = performance.now() - start;
    this.backends = this.backends.filter((backend) => backend !== oldest);
    await Promise.all([oldest.client.close(), witness.end()]);
    this.witnessed += witness.answered;
    prove(status === 0 || status === 143 || status === 'SIGTERM', `the service ended with ${status}`);
    const longest = this.environment.short ? SHARED_MACHINE_STOP_MS : LONGEST_STOP_MS;
    prove(took <= longest, `the stop took ${took.toFixed(0)} ms`);
    return took;
  }
}

/** A caller that goes on with one replica whatever its readiness says, as whoever has a connection to it may. */
class Witness {
  answered = 0;
  /** One connection, which is kept until the replica closes it. */
  private readonly client: ApiClient;
  private readonly slowClient: ApiClient;
  private readonly slow: Promise<Answer>[] = [];

  constructor(
    private readonly backend: Backend,
    token: string,
    private readonly slowPeer: Peer,
  ) {
    this.client = new ApiClient(backend.service.url, token, { connections: 1 });
    this.slowClient = new ApiClient(backend.service.url, token);
  }

  /** Opens connections before the replica is told to stop: one that is idle then, and one with a request under way. */
  async begin(): Promise<void> {
    prove(!(await this.client.getById('unknown-system')).closes, 'a connection was closed before any stop');
    this.beginSlow();
    await sleep(WITNESS_PAUSE_MS);
  }

  /**
   * Sends requests from the failing of readiness until one is refused; then those that are slow must still be answered.
   * @param signalled when SIGTERM was sent, by `performance.now()`
   */
  async watchStop(signalled: number): Promise<void> {
    while (await this.backend.service.isReady()) {
      await sleep(WITNESS_PAUSE_MS);
    }
    this.beginSlow();
    while (await this.isServed(signalled)) {
      await sleep(WITNESS_PAUSE_MS);
    }
    for (const answer of await Promise.all(this.slow)) {
      this.check(answer, 200);
    }
  }

  end(): Promise<unknown> {
    return Promise.all([this.client.close(), this.slowClient.close()]);
  }

  private beginSlow(): void {
    const answer = this.slowClient.testConnection(this.slowPeer.url);
    // Awaited at the end of the stop; until then a failure waits too.
    answer.catch(() => undefined);
    this.slow.push(answer);
  }

  private async isServed(signalled: number): Promise<boolean> {
    const answer = await this.client.getById('unknown-system');
    if (answer.status !== REFUSED) {
      this.check(answer, 404);
      return true;
    }
    this.check(answer, REFUSED);
    const after = performance.now() - signalled;
    prove(after >= SHUTDOWN_DELAY_MS, `a request was refused ${after.toFixed(0)} ms after SIGTERM`);
    return false;
  }

  private check({ status, closes, body }: Answer, expected: number): void {
    prove(
      status === expected,
      `a replica that stops answered ${status} ${String(body['message'])} instead of ${expected}`,
    );
    prove(closes, 'an answer after SIGTERM does not close its connection');
    this.answered += 1;
  }
}
