import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from './support/api-client.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import type { ServiceProcess } from './support/service-process.js';

const CALLERS = 20;
const READINESS_INTERVAL_MS = 100;
/** Long enough for the balancer to see that a replica is going away. */
const SHUTDOWN_DELAY_MS = 500;
const LONGEST_STOP_MS = 10_000;

/** One replica as the load balancer knows it. */
interface Backend {
  service: ServiceProcess;
  client: ApiClient;
  ready: boolean;
}

export const proof: Proof = {
  name: 'stop',
  claim:
    'SIGTERM under load drops no request: replicas restarted in turn behind a load balancer answer all of them',
  databases: ['mariadb', 'mysql'],
  async run(environment) {
    const restarts = environment.short ? 2 : 10;
    const balancer = new Balancer(environment, await environment.emptyDatabase());
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
    return `${restarts} restarts under ${balancer.answered} requests: 0 dropped, longest stop ${Math.max(...stops).toFixed(0)} ms`;
  },
};

/** A minimal load balancer: asks each replica for its readiness and sends requests in turn to those that are ready. */
class Balancer {
  backends: Backend[] = [];
  running = true;
  answered = 0;

  constructor(
    private readonly environment: ProofEnvironment,
    private readonly databaseUrl: string,
  ) {}

  async addBackend(): Promise<Backend> {
    const settings = { SHUTDOWN_DELAY_MS: String(SHUTDOWN_DELAY_MS) };
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

  /** Sends creates and reads without a pause; any broken connection or unexpected status fails the proof. */
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
    }
  }

  /**
   * Replaces the replica that runs longest, as a rolling update does.
   * @returns milliseconds from SIGTERM to the end of its process
   */
  async restartOldest(): Promise<number> {
    this.backends = [...this.backends, await this.addBackend()];
    const oldest = this.backends[0]!;
    const start = performance.now();
    const status = await oldest.service.kill('SIGTERM');
    const took = performance.now() - start;
    this.backends = this.backends.filter((backend) => backend !== oldest);
    await oldest.client.close();
    prove(status === 0 || status === 143 || status === 'SIGTERM', `the service ended with ${status}`);
    prove(took <= LONGEST_STOP_MS, `the stop took ${took.toFixed(0)} ms`);
    return took;
  }
}
