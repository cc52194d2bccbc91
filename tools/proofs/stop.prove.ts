import { setTimeout as sleep } from 'node:timers/promises';
import { startHttpPeer, type Peer } from '../../test/support/peers/peer.js';
import { ApiClient, type Answer } from './support/api-client.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import type { ServiceProcess } from './support/service-process.js';

const CALLERS = 20;
const READINESS_INTERVAL_MS = 100;
/** Long enough for the balancer to notice that a replica is shutting down. */
const SHUTDOWN_DELAY_MS = 2_000;
const MAX_STOP_MS = 10_000;
/** Same for short runs, which share the processors with other proofs. */
const SHARED_MACHINE_MAX_STOP_MS = 60_000;
/**
 * Delay per request of a connection test, which sends three: in total longer than the grace period, so it is still in
 * progress when that ends.
 */
const SLOW_MS = 1_000;
const WITNESS_PAUSE_MS = 20;
/** Pause of a caller between two requests in short runs. */
const SHORT_PAUSE_MS = 100;
const REFUSED = 503;

/** One replica, from the load balancer's view. */
interface Backend {
  service: ServiceProcess;
  client: ApiClient;
  ready: boolean;
}

export const proof: Proof = {
  name: 'stop',
  claim:
    'SIGTERM under load drops no request: replicas restarted one by one behind a load balancer answer all requests, including slow ones, and close each connection with the response',
  databases: ['mariadb', 'mysql'],
  // A shutdown concerns connections of callers, not of the database.
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
    `${balancer.witnessed} responses after SIGTERM: all closed their connection`
  );
}

/** A minimal load balancer: polls the readiness of replicas and distributes requests to those that are ready. */
class Balancer {
  backends: Backend[] = [];
  running = true;
  answered = 0;
  /** Number of responses sent by replicas after SIGTERM. */
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

  /** Runs all callers until `running` is false. Rejects when a request fails. */
  load(): Promise<unknown> {
    const callers = Array.from({ length: CALLERS }, (_, caller) => this.call(caller));
    const load = Promise.all([...callers, this.watch()]);
    // The failure is reported where the load is awaited; here it only stops the others.
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

  /** Sends creates and reads. A broken connection or an unexpected status fails the proof. */
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
   * Replaces the oldest replica, like a rolling update.
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
    const longest = this.environment.short ? SHARED_MACHINE_MAX_STOP_MS : MAX_STOP_MS;
    prove(took <= longest, `the stop took ${took.toFixed(0)} ms`);
    return took;
  }
}

/** A caller that keeps using one replica regardless of its readiness, as any caller with an open connection might. */
class Witness {
  answered = 0;
  /** Single connection, kept open until the replica closes it. */
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

  /** Opens connections before SIGTERM: one idle connection, and one with a pending request. */
  async begin(): Promise<void> {
    prove(!(await this.client.getById('unknown-system')).closes, 'a connection was closed before any stop');
    this.beginSlow();
    await sleep(WITNESS_PAUSE_MS);
  }

  /**
   * Sends requests from the moment readiness fails until one is rejected, then checks that slow requests still get a
   * response.
   * @param signalled time of SIGTERM, by `performance.now()`
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
    // Awaited at the end of the stop; until then a failure must not be unhandled.
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
    prove(after >= SHUTDOWN_DELAY_MS, `a request was rejected ${after.toFixed(0)} ms after SIGTERM`);
    return false;
  }

  private check({ status, closes, body }: Answer, expected: number): void {
    prove(
      status === expected,
      `a stopping replica answered ${status} ${String(body['message'])} instead of ${expected}`,
    );
    prove(closes, 'a response after SIGTERM did not close its connection');
    this.answered += 1;
  }
}
