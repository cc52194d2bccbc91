import { randomInt } from 'node:crypto';
import { setPriority } from 'node:os';
import * as fc from 'fast-check';
import { freePort } from '../../test/support/databases/process-resources.js';
import { taskProcess, userTask } from '../../test/support/runtime/process-files.js';
import { ApiClient, systemPath } from './support/api-client.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { forkHelper, nextMessage } from './support/helper-process.js';
import { ATTACKS, Attacker, serverAttacks, starts, type Attack } from './support/stall-attacks.js';
import { PACKAGES_AND_BODIES } from './support/stall-bodies.js';
import { PROCESSES } from './support/stall-grammars.js';
import { PACKAGE_ATTACKS } from './support/stall-packages.js';
import { workflowAttacks, type CostlyPeers } from './support/stall-workflows.js';
import { StallWatch, type Latencies } from './support/stall-watch.js';

/** Maximum p99 latency of /livez on an otherwise idle machine. */
const LIVEZ_MS = 100;
/** Minimum number of responses for a meaningful p99. */
const ANSWERS = 200;
const ANSWERS_SHORT = 10;
/** Package attacks in a short run; each takes a minute next to other proofs. */
const PACKAGES_SHORT = 1;
const MAX_ATTACK_MS = 10_000;
const ATTACKERS_NICENESS = 10;
/** Default limit of concurrent requests per caller. This many short requests are normal load. */
const NORMAL_REQUESTS = 8;
/** Tolerance for reads, since MySQL and the machine have other load. */
const NOISE_MS = 100;
/** Maximum latency in short runs, which share the processors; some attacks once took minutes. */
const SHARED_MACHINE_MS = 30_000;
/** Attempts per attack; only an effect in every attempt counts. */
const TRIES = 3;
const GENERATED_MS = 600_000;
const GENERATED_SHORT_MS = 3_000;
const HOSTILE: fc.Arbitrary<Attack> = fc.oneof(PROCESSES, PACKAGES_AND_BODIES);

export const proof: Proof = {
  name: 'stall',
  claim:
    'nothing that a caller, an author, an MCP server, a REST system or a model sends within the default limits slows down probes or other callers',
  databases: ['embedded', 'mysql'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const peers = forkHelper('./stall-peers.process.ts');
    const urls = (await nextMessage(peers)) as CostlyPeers;
    const stage = await Stage.open(environment, urls);
    if (!environment.short) {
      lowerPriority(peers.pid);
    }
    const alone = await stage.latencies(() => new Promise((resolve) => setTimeout(resolve, 2_000)));
    const normal = await stage.underNormalLoad();
    const results: string[] = [];
    const packages = environment.short ? PACKAGE_ATTACKS.slice(0, PACKAGES_SHORT) : PACKAGE_ATTACKS;
    const attacks = [...ATTACKS, ...serverAttacks(urls), ...workflowAttacks(urls), ...packages];
    const wanted = new RegExp(process.env['PROVE_ATTACK'] ?? '');
    for (const attack of attacks.filter(({ name }) => wanted.test(name))) {
      const answers = environment.short ? ANSWERS_SHORT : ANSWERS;
      results.push(`${attack.name} ${inMs(await stage.proveHarmless(attack, normal, answers))}`);
    }
    peers.kill('SIGKILL');
    const generated = await stage.runGenerated(
      Number(process.env['PROVE_SEED'] ?? randomInt(2 ** 31)),
      normal,
    );
    await stage.close();
    return `p99 (worst) of /livez, of /livez on METRICS_PORT, and of reads: idle ${inMs(alone)}; under short starts of one caller ${inMs(normal)}; ${results.join('; ')}; ${generated}`;
  },
};

/**
 * Lowers the priority of the peers and of this process permanently. Real attackers run on other machines, so their work
 * must not take processor time from the service, the database and the watchers.
 */
function lowerPriority(peers: number | undefined): void {
  [peers ?? 0, 0].forEach((pid) => setPriority(pid, ATTACKERS_NICENESS));
}

/** The service with a hostile caller and a watching one. */
class Stage {
  private constructor(
    private readonly watch: StallWatch,
    private readonly isJudged: boolean,
    private readonly attacker: Attacker,
  ) {}

  static async open(environment: ProofEnvironment, { model }: CostlyPeers): Promise<Stage> {
    const port = await freePort();
    const settings = {
      'httpLimits.callerRequests': '100',
      'httpLimits.callerAtWork': '8',
      METRICS_PORT: String(port),
      EGRESS_ALLOW: '127.0.0.1',
      LLM_BASE_URL: model,
      LLM_MODEL: 'costly',
      LLM_API_KEY: 'key-of-the-model',
    };
    const { url } = await environment.startService(await environment.emptyDatabase(), settings);
    const token = await environment.token();
    const client = new ApiClient(url, token);
    const { body } = await client.create('watched');
    await client.close();
    const attacker = new Attacker(url, await environment.token({ sub: 'attacker' }), 'hostile');
    const path = systemPath(String(body['resourceId']));
    const watch = await StallWatch.open({ url, metricsUrl: `http://127.0.0.1:${port}`, path, token });
    return new Stage(watch, !environment.short, attacker);
  }

  /** Returns the latencies of other callers while `happens` runs, repeated until they received `answers` responses. */
  async latencies(happens: () => Promise<unknown>, answers = 0): Promise<Latencies> {
    await this.watch.begin();
    const until = performance.now() + MAX_ATTACK_MS;
    do {
      await happens();
    } while ((await this.watch.answers()) < answers && performance.now() < until);
    return this.watch.stop();
  }

  /** Returns the latencies under the normal load of one caller, as the reference for reads. */
  async underNormalLoad(): Promise<Latencies> {
    const path = await this.attacker.publish('p', taskProcess('p', userTask('a')));
    return this.latencies(
      starts(this.attacker, path, '{}', NORMAL_REQUESTS),
      this.isJudged ? ANSWERS : ANSWERS_SHORT,
    );
  }

  /**
   * Proves that an attack does not slow down other callers. Repeats it before failing, since a single slow response may be
   * caused by the machine.
   * @throws ProofError when the attack slowed down other callers in every attempt
   */
  async proveHarmless(attack: Attack, normal: Latencies, answers = 0): Promise<Latencies> {
    const happens = await attack.prepare(this.attacker);
    let latencies = await this.latencies(happens, answers);
    for (let tries = 1; this.isJudged && tries < TRIES && !isHarmless(latencies, normal); tries += 1) {
      latencies = await this.latencies(happens, answers);
    }
    const text = `${attack.name}: p99 (worst) of /livez, of /livez on METRICS_PORT, and of reads ${inMs(latencies)}, under short starts ${inMs(normal)}`;
    prove(!this.isJudged || isHarmless(latencies, normal), text);
    prove(latencies.livez.worst <= SHARED_MACHINE_MS, text);
    return latencies;
  }

  /** Generates attacks with schemas, expressions, BPMN files, packages and bodies until the time is over. */
  async runGenerated(seed: number, normal: Latencies): Promise<string> {
    const until = performance.now() + (this.isJudged ? GENERATED_MS : GENERATED_SHORT_MS);
    let count = 0;
    const worst = { livez: { ms: 0, of: '' }, reading: { ms: 0, of: '' } };
    for (; count === 0 || performance.now() < until; count += 1) {
      const [made] = fc.sample(HOSTILE, { seed: seed + count, numRuns: 1 }) as [Attack];
      const attack = { ...made, name: `generated by PROVE_SEED=${seed + count}: ${made.name}` };
      const latencies = await this.proveHarmless(attack, normal, ANSWERS_SHORT);
      for (const kind of ['livez', 'reading'] as const) {
        if (latencies[kind].worst > worst[kind].ms) {
          worst[kind] = { ms: latencies[kind].worst, of: `${made.name}, PROVE_SEED=${seed + count}` };
        }
      }
    }
    const results = Object.entries(worst).map(([kind, { ms, of }]) => `${kind} ${ms.toFixed(0)} ms (${of})`);
    return `${count} generated: worst ${results.join(', ')}`;
  }

  close(): Promise<void> {
    this.watch.close();
    return this.attacker.close();
  }
}

function isHarmless({ livez, probePort, reading }: Latencies, normal: Latencies): boolean {
  return Math.max(livez.p99, probePort.p99) <= LIVEZ_MS && reading.p99 <= 2 * normal.reading.p99 + NOISE_MS;
}

function inMs({ livez, probePort, reading }: Latencies): string {
  return `${[livez, probePort, reading].map(({ p99, worst }) => `${p99.toFixed(0)} (${worst.toFixed(0)})`).join(' / ')} ms`;
}
