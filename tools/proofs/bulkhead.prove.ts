import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, APP, VERSION, type Answer } from './support/api-client.js';
import { median, percentile, prove, type Proof } from './support/proof.js';
import { forkHelper, nextMessage } from './support/helper-process.js';
import type { ServiceProcess } from './support/service-process.js';
import type { SteadyLoad } from './support/steady-load.process.js';
import { detailsPath } from '../../test/support/factories.js';

const TESTS = 200;
const DEADLINE_MS = 5_000;
const SLACK_MS = 1_000;
/** Tolerance for short runs, which share the processors with other proofs: it detects hanging tests only. */
const SHARED_MACHINE_SLACK_MS = 50_000;
/** Period over which the tests arrive, so that the cost of 200 simultaneous requests is not measured. */
const ARRIVAL_MS = 1_000;
const READS_PER_SECOND = 50;
const STORM_SECONDS = 6;
const SOCKETS_CLOSED_MS = 2_000;
const MEMORY_SAMPLE_MS = 20;
const MEGABYTE = 1_048_576;
const ONE_SERVER_BYTES = 50 * MEGABYTE;
const ALL_SERVERS_BYTES = 250 * MEGABYTE;
/** Latency differences below this are noise, since five processes share two cores. */
const NOISE_MS = 4;

/** The hostile server for which a system is registered, so that each of its tests stores tools. */
const CHANGING = 'changing tools';

/** Hostile servers whose valid tools are read nevertheless. */
const READABLE: ReadonlySet<string> = new Set([CHANGING, 'malformed tools', 'nested deeply', 'regex bomb']);
const MESSAGES: Readonly<Record<number, readonly string[]>> = {
  200: ['Connection successful'],
  400: ['Connection failed: Invalid authentication credentials'],
  500: [
    'Connection failed: MCP server is unreachable',
    'Connection failed: The answer is larger than allowed',
  ],
};

export const proof: Proof = {
  name: 'bulkhead',
  claim: 'concurrent connection tests of 200 hostile servers end in time and do not affect other callers',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    // Latency can be measured only on an otherwise idle machine, and short runs share theirs. They check the answers, the
    // memory, the sockets and that every test ends, but neither the latency of other callers nor exact deadlines, and they
    // store no tools of hostile servers.
    const judged = !environment.short;
    const storms = judged ? 9 : 1;
    const service = await environment.startService(await environment.emptyDatabase(), {
      EGRESS_ALLOW: '127.0.0.1',
      'mcpLimits.testTimeoutMs': String(DEADLINE_MS),
    });
    const hostile = await HostilePeers.start(judged);
    try {
      const callers = new Callers(service, await environment.token(), judged);
      if (environment.kind !== 'embedded' && judged) {
        // The embedded database has a single connection, so every reader waits for writes.
        await callers.createSystem({ baseUrl: hostile.urls[CHANGING] });
      }
      const single = await testSequentially(callers, hostile);
      const storm = await testConcurrently(callers, hostile, { storms, judged });
      await hostile.expectNoSockets();
      const isUnnoticed = storm.p99Ms <= 2 * storm.aloneMs + NOISE_MS;
      prove(!judged || isUnnoticed, `get-by-id p99 rose from ${storm.aloneMs} to ${storm.p99Ms} ms`);
      await callers.close();
      return (
        `${storms * TESTS} tests, longest ${storm.longestMs.toFixed(0)} ms; get-by-id p99 ` +
        `${judged ? `${storm.aloneMs.toFixed(1)} ms alone, ` : ''}${storm.p99Ms.toFixed(1)} ms during the tests; memory at most +${megabytes(single)} for one server, ` +
        `+${megabytes(storm.grownBytes)} for ${TESTS}; 0 sockets left`
      );
    } finally {
      hostile.stop();
    }
  },
};

/** Tests each server alone. Returns the maximum memory growth for one server. */
async function testSequentially(callers: Callers, hostile: HostilePeers): Promise<number> {
  // Warm up, so that loading and compiling code is not attributed to a server.
  await Promise.all(Array.from({ length: 20 }, () => callers.test(hostile.urls['malformed tools'] ?? '')));
  const grown: number[] = [];
  for (const [name, url] of Object.entries(hostile.urls)) {
    const memory = new MemoryWatch(callers.service.pid);
    const { answer, tookMs } = await callers.test(url);
    grown.push(memory.stop());
    callers.expectContract(name, answer, tookMs);
    prove((answer.body['status'] === 200) === READABLE.has(name), `${name}: ${JSON.stringify(answer.body)}`);
    prove((grown.at(-1) ?? 0) < ONE_SERVER_BYTES, `${name} took ${megabytes(grown.at(-1) ?? 0)}`);
  }
  return Math.max(...grown);
}

async function testConcurrently(
  callers: Callers,
  hostile: HostilePeers,
  { storms, judged }: { storms: number; judged: boolean },
): Promise<{ longestMs: number; aloneMs: number; p99Ms: number; grownBytes: number }> {
  const resourceId = await callers.createSystem();
  const kinds = Object.entries(hostile.urls);
  const memory = new MemoryWatch(callers.service.pid);
  // Measure alternately without and with the tests and compare medians, since the machine has other load.
  const alone: number[] = [];
  const p99s: number[] = [];
  let longestMs = 0;
  for (let storm = 0; storm < storms; storm += 1) {
    if (judged) {
      alone.push(await (await callers.steadyReader(resourceId)).read());
    }
    const reader = await callers.steadyReader(resourceId);
    const reading = reader.read();
    // A failure is reported where it is awaited, unless a test fails first.
    reading.catch(() => undefined);
    const tests = Array.from({ length: TESTS }, async (_, index) => {
      const [name, url] = kinds[index % kinds.length] ?? ['', ''];
      await sleep((index * ARRIVAL_MS) / TESTS);
      const { answer, tookMs } = await callers.test(url);
      callers.expectContract(name, answer, tookMs);
      longestMs = Math.max(longestMs, tookMs);
    });
    await Promise.all(tests);
    p99s.push(await reading);
  }
  const grownBytes = memory.stop();
  prove(grownBytes < ALL_SERVERS_BYTES, `${TESTS} servers took ${megabytes(grownBytes)}`);
  return { longestMs, aloneMs: median(alone), p99Ms: median(p99s), grownBytes };
}

/** All callers of the service. */
class Callers {
  private readonly client: ApiClient;
  /** Maximum duration of a test in milliseconds. */
  private readonly limitMs: number;

  constructor(
    readonly service: ServiceProcess,
    private readonly token: string,
    judged: boolean,
  ) {
    this.limitMs = DEADLINE_MS + (judged ? SLACK_MS : SHARED_MACHINE_SLACK_MS);
    this.client = new ApiClient(service.url, token, { connections: TESTS });
  }

  /** Proves that a test was answered within the limit and according to the contract. */
  expectContract(name: string, { status, body }: Answer, tookMs: number): void {
    const text = `${name}: HTTP ${status} ${JSON.stringify(body).slice(0, 500)}`;
    prove(
      status === 200 && MESSAGES[Number(body['status'])]?.includes(String(body['message'])) === true,
      text,
    );
    prove('tools' in body === (body['status'] === 200), text);
    prove(tookMs <= this.limitMs, `${name} took ${tookMs.toFixed(0)} ms`);
  }

  async createSystem(payload: Record<string, unknown> = {}): Promise<string> {
    const { body } = await this.client.create(`bulkhead-${performance.now().toFixed(0)}`, payload);
    return String(body['resourceId']);
  }

  async test(url: string): Promise<{ answer: Answer; tookMs: number }> {
    const start = performance.now();
    const answer = await this.client.testConnection(url);
    return { answer, tookMs: performance.now() - start };
  }

  /**
   * Starts and warms up a process that reads at a steady rate on request. `read` returns the 99th percentile in
   * milliseconds.
   */
  async steadyReader(resourceId: string): Promise<{ read(): Promise<number> }> {
    const child = forkHelper('steady-load.process.ts');
    const url = `${this.service.url}${detailsPath(resourceId, APP, VERSION)}`;
    const load: SteadyLoad = { url, token: this.token, perSecond: READS_PER_SECOND, seconds: STORM_SECONDS };
    child.send(load);
    await nextMessage(child);
    return {
      read: async () => {
        child.send('go');
        return percentile((await nextMessage(child)) as number[], 0.99);
      },
    };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** A process that runs the hostile servers. */
class HostilePeers {
  private constructor(
    private readonly child: ChildProcess,
    readonly urls: Record<string, string>,
  ) {}

  /** @param judged whether latency is measured, so the servers get low priority and do not compete with the service */
  static async start(judged: boolean): Promise<HostilePeers> {
    const child = forkHelper('hostile-peers.process.ts');
    if (judged) {
      setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
    }
    return new HostilePeers(child, (await nextMessage(child)) as Record<string, string>);
  }

  /** Proves that the service has closed all connections. The servers never close one themselves. */
  async expectNoSockets(): Promise<void> {
    const deadline = performance.now() + SOCKETS_CLOSED_MS;
    for (let open = Number.NaN; open !== 0;) {
      this.child.send('count');
      open = (await nextMessage(this.child)) as number;
      prove(open === 0 || performance.now() < deadline, `${open} sockets are still open`);
      await sleep(50);
    }
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}

/** Watches the peak of a process's resident memory. */
class MemoryWatch {
  private readonly before: number;
  private peak: number;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.before = this.peak = this.resident();
    this.timer = setInterval(() => (this.peak = Math.max(this.peak, this.resident())), MEMORY_SAMPLE_MS);
  }

  /** Stops watching. Returns the maximum growth in bytes. */
  stop(): number {
    clearInterval(this.timer);
    return Math.max(this.peak, this.resident()) - this.before;
  }

  private resident(): number {
    const file = `/proc/${this.pid}/status`;
    // If the proof fails, the service ends while its memory is still watched; an error here would hide the failure.
    const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(0)} MB`;
}
