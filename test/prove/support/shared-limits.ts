import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { ProofEnvironment } from './proof-environment.js';
import { prove } from './proof.js';

const TESTS = 6;
const LOOK_MS = 100;
const LONGEST_MS = 60_000;
const TEST_PATH =
  '/appmanager/api/runtime-internal/app/none/app-version/v1/rt/system/integrationengine/api/systems/test-mcp-connection';

/** Low limits of a caller, and others that are counted at each request and never reached. */
export const LIMIT_SETTINGS = {
  'httpLimits.connectionTestsPerMinute': String(TESTS),
  RATE_LIMIT_PRINCIPAL_PER_MINUTE: '1000000',
  RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000',
  'httpLimits.callerRequests': '1000',
  'httpLimits.refusalDelayMs': '0',
};

/** Who counts: all replicas together, or each by itself. */
export type Counting = 'together' | 'alone';

/** Finds out, as a caller of two replicas, whether they count together. */
export class SharedLimits {
  private readonly agent = new Agent({ connections: 50 });
  private callers = 0;

  /** @param urls of two replicas */
  constructor(
    private readonly environment: ProofEnvironment,
    private readonly urls: () => [string, string],
  ) {}

  /** @returns milliseconds until they count so */
  async until(counting: Counting): Promise<number> {
    const begin = performance.now();
    for (;;) {
      const found = await this.found();
      const afterMs = performance.now() - begin;
      if (found === counting) {
        return afterMs;
      }
      prove(afterMs < LONGEST_MS, `connection tests are counted ${found}`);
      await sleep(LOOK_MS);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async found(): Promise<Counting> {
    const token = await this.nextCaller();
    const [one, other] = this.urls();
    const test = async (url: string): Promise<boolean> => {
      // Counted, then refused for want of a body.
      const { statusCode, body } = await request(`${url}${TEST_PATH}`, {
        method: 'PATCH',
        dispatcher: this.agent,
        headers: { authorization: `Bearer ${token}` },
      });
      await body.dump();
      prove(statusCode >= 400 && statusCode < 500, `a test without a body was answered ${statusCode}`);
      return statusCode !== 429;
    };
    for (let number = 0; number < TESTS; number += 1) {
      prove(await test(one), 'a request below the limit was refused');
    }
    prove(!(await test(one)), 'a replica does not keep to its own limit of requests');
    let letThrough = 0;
    while (letThrough < TESTS && (await test(other))) {
      letThrough += 1;
    }
    return letThrough === TESTS ? 'alone' : 'together';
  }

  private nextCaller(): Promise<string> {
    this.callers += 1;
    return this.environment.token({ sub: `limited ${this.callers}` });
  }
}
