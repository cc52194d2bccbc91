import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request, type Dispatcher } from 'undici';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';

const CONNECTIONS = 2;
const TESTS = 6;
/** Longer than counts of a replica wait to be told. */
const TOLD_MS = 300;
const LOOK_MS = 100;
const LONGEST_MS = 60_000;
const TEST_PATH =
  '/appmanager/api/runtime-internal/app/none/app-version/v1/rt/system/integrationengine/api/systems/test-mcp-connection';

/** Low limits of a caller, and others that are counted at each request and never reached. */
export const LIMIT_SETTINGS = {
  PROCESS_PROGRESS_CONNECTIONS_PER_CALLER: String(CONNECTIONS),
  RATE_LIMIT_CONNECTION_TEST_PER_MINUTE: String(TESTS),
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: '1000000',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000',
  HTTP_CALLER_REQUESTS: '1000',
  HTTP_REFUSAL_DELAY_MS: '0',
};

/** Who counts: all replicas together, or each by itself. */
export type Counting = 'together' | 'alone';

/** Finds out, as a caller of two replicas, whether they count together: connections at a time, and requests a minute. */
export class SharedLimits {
  private readonly agent = new Agent({ connections: 50 });
  private callers = 0;

  /**
   * @param urls of two replicas
   * @param instance UUID of one that has not ended
   */
  constructor(
    private readonly environment: ProofEnvironment,
    private readonly urls: () => [string, string],
    private readonly instance: string,
  ) {}

  /** @returns milliseconds until they count so, for both limits */
  async until(counting: Counting): Promise<number> {
    const begin = performance.now();
    for (;;) {
      const found = await Promise.all([this.connections(), this.tests()]);
      const afterMs = performance.now() - begin;
      if (found.every((each) => each === counting)) {
        return afterMs;
      }
      prove(afterMs < LONGEST_MS, `limits of connections and of tests are counted ${found.join(' and ')}`);
      await sleep(LOOK_MS);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async connections(): Promise<Counting> {
    const token = await this.nextCaller();
    const [one, other] = this.urls();
    const opened: Dispatcher.ResponseData[] = [];
    const follow = async (url: string): Promise<boolean> => {
      const path = `/rtm/api/runtime/process-instance/${this.instance}/progress`;
      const response = await this.send(url, 'GET', path, token);
      opened.push(response);
      const { statusCode, body } = response;
      const isAnswered = [200, 429].includes(statusCode);
      prove(isAnswered, `a connection was answered ${statusCode}: ${isAnswered ? '' : await body.text()}`);
      return statusCode === 200;
    };
    for (let connection = 0; connection < CONNECTIONS; connection += 1) {
      prove(await follow(one), 'a connection below the limit was refused');
    }
    prove(!(await follow(one)), 'a replica does not keep to its own limit of connections');
    const isOpen = await follow(other);
    opened.forEach(({ body }) => body.on('error', () => undefined).destroy());
    return isOpen ? 'alone' : 'together';
  }

  private async tests(): Promise<Counting> {
    const token = await this.nextCaller();
    const [one, other] = this.urls();
    const test = async (url: string): Promise<boolean> => {
      // Counted, then refused for want of a body.
      const { statusCode, body } = await this.send(url, 'PATCH', TEST_PATH, token);
      await body.dump();
      prove(statusCode >= 400 && statusCode < 500, `a test without a body was answered ${statusCode}`);
      return statusCode !== 429;
    };
    for (let number = 0; number < TESTS; number += 1) {
      prove(await test(one), 'a request below the limit was refused');
    }
    prove(!(await test(one)), 'a replica does not keep to its own limit of requests');
    let letThrough = 0;
    for (; letThrough < TESTS && (await test(other)); letThrough += 1) {
      await sleep(letThrough === 0 ? TOLD_MS : 0);
    }
    return letThrough === TESTS ? 'alone' : 'together';
  }

  private nextCaller(): Promise<string> {
    this.callers += 1;
    return this.environment.token({ sub: `limited ${this.callers}` });
  }

  private send(
    url: string,
    method: 'GET' | 'PATCH',
    path: string,
    token: string,
  ): Promise<Dispatcher.ResponseData> {
    const headers = { authorization: `Bearer ${token}` };
    return request(`${url}${path}`, { method, dispatcher: this.agent, headers });
  }
}
