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
/** Where others work on the same two cores, as in a short round: it says that no test hangs, not how fast it is. */
const SHARED_MACHINE_SLACK_MS = 50_000;
/** The tests arrive within this time, so that the cost of 200 simultaneous requests of any kind is not measured. */
const ARRIVAL_MS = 1_000;
const READS_PER_SECOND = 50;
const STORM_SECONDS = 6;
const SOCKETS_CLOSED_MS = 2_000;
const MEMORY_SAMPLE_MS = 20;
const MEGABYTE = 1_048_576;
const ONE_SERVER_BYTES = 50 * MEGABYTE;
const ALL_SERVERS_BYTES = 250 * MEGABYTE;
/** Below this, doubling is the noise of two cores that five processes share. */
const NOISE_MS = 4;

/** The hostile server that a system is registered for, so that every test of it stores what it lists. */
const CHANGING = 'changing tools';

/** Hostile servers whose good tools are read all the same. */
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
  claim: 'connection tests of 200 hostile servers at once end in time and are not noticed by anybody else',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    // Only a machine that does nothing else can tell of latency; a short run is made where others work too. It judges the
    // answers, the memory, the sockets, and that every test ends. It does not judge what other callers notice, nor whether
    // a test ends within a second of its deadline; and nothing that a hostile server lists is stored.
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
        // The embedded file has one connection: there every reader waits for whoever stores.
        await callers.createSystem({ baseUrl: hostile.urls[CHANGING] });
      }
      const single = await oneByOne(callers, hostile);
      const storm = await stormAtOnce(callers, hostile, { storms, judged });
      await hostile.expectNoSockets();
      const isUnnoticed = storm.p99Ms <= 2 * storm.aloneMs + NOISE_MS;
      prove(!judged || isUnnoticed, `get-by-id p99 rose from ${storm.aloneMs} to ${storm.p99Ms} ms`);
      await callers.close();
      return (
        `${storms * TESTS} tests, longest ${storm.longestMs.toFixed(0)} ms; get-by-id p99 ` +
        `${judged ? `${storm.aloneMs.toFixed(1)} ms alone, ` : ''}${storm.p99Ms.toFixed(1)} ms meanwhile; memory +${megabytes(single)} for one server at the most, ` +
        `+${megabytes(storm.grownBytes)} for ${TESTS}; 0 sockets left`
      );
    } finally {
      hostile.stop();
    }
  },
};

/** @returns the most memory that one server took */
async function oneByOne(callers: Callers, hostile: HostilePeers): Promise<number> {
  // What is loaded and compiled with the first test is not the fault of the second server.
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

async function stormAtOnce(
  callers: Callers,
  hostile: HostilePeers,
  { storms, judged }: { storms: number; judged: boolean },
): Promise<{ longestMs: number; aloneMs: number; p99Ms: number; grownBytes: number }> {
  const resourceId = await callers.createSystem();
  const kinds = Object.entries(hostile.urls);
  const memory = new MemoryWatch(callers.service.pid);
  // Alone and in the storm in turn, and the median of each: the machine has other work too.
  const alone: number[] = [];
  const p99s: number[] = [];
  let longestMs = 0;
  for (let storm = 0; storm < storms; storm += 1) {
    if (judged) {
      alone.push(await (await callers.steadyReader(resourceId)).read());
    }
    const reader = await callers.steadyReader(resourceId);
    const reading = reader.read();
    // A failure is reported where it is awaited, unless a test fails before.
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

/** Everybody who calls the service. */
class Callers {
  private readonly client: ApiClient;
  /** Milliseconds that a test may take. */
  private readonly limitMs: number;

  constructor(
    readonly service: ServiceProcess,
    private readonly token: string,
    judged: boolean,
  ) {
    this.limitMs = DEADLINE_MS + (judged ? SLACK_MS : SHARED_MACHINE_SLACK_MS);
    this.client = new ApiClient(service.url, token, { connections: TESTS });
  }

  /** Proves that a test was answered as the contract says, and in time. */
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

  /** A process that is warm and reads steadily once told; `read` returns the 99th percentile in milliseconds. */
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

/** The process full of hostile servers. */
class HostilePeers {
  private constructor(
    private readonly child: ChildProcess,
    readonly urls: Record<string, string>,
  ) {}

  /** @param judged outside parties have processors of their own: they must not compete with the service for these */
  static async start(judged: boolean): Promise<HostilePeers> {
    const child = forkHelper('hostile-peers.process.ts');
    if (judged) {
      setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW);
    }
    return new HostilePeers(child, (await nextMessage(child)) as Record<string, string>);
  }

  /** The servers never close a connection themselves: what is open was left open by the service. */
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

/** Watches how much memory a process has resident. */
class MemoryWatch {
  private readonly before: number;
  private peak: number;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.before = this.peak = this.resident();
    this.timer = setInterval(() => (this.peak = Math.max(this.peak, this.resident())), MEMORY_SAMPLE_MS);
  }

  /** @returns bytes by which it grew at the most */
  stop(): number {
    clearInterval(this.timer);
    return Math.max(this.peak, this.resident()) - this.before;
  }

  private resident(): number {
    const file = `/proc/${this.pid}/status`;
    // A claim that does not hold ends the service while its memory is still watched; that must not hide the claim.
    const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(0)} MB`;
}
