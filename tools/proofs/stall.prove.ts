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
import { StallWatch, type Noticed } from './support/stall-watch.js';

/** On a machine that does nothing else. */
const LIVEZ_MS = 100;
/** Fewer answers have no p99 but their worst. */
const ANSWERS = 200;
const ANSWERS_SHORT = 10;
/** A round with one of them takes a minute beside other proofs. */
const PACKAGES_SHORT = 1;
const LONGEST_ATTACK_MS = 10_000;
const ATTACKERS_NICENESS = 10;
/** What a caller has at work by default: so many short requests at the same time are no attack. */
const USUAL_REQUESTS = 8;
/** Of reading; MySQL and the machine have other work too. */
const NOISE_MS = 100;
/** Beside other proofs, which leave it a part of the processor: some of the attacks took minutes once. */
const SHARED_MACHINE_MS = 30_000;
/** How often an attack may be noticed before that counts. */
const TRIES = 3;
const GENERATED_MS = 600_000;
const GENERATED_SHORT_MS = 3_000;
const HOSTILE: fc.Arbitrary<Attack> = fc.oneof(PROCESSES, PACKAGES_AND_BODIES);

export const proof: Proof = {
  name: 'stall',
  claim:
    'whatever a caller, an author, an MCP server, a REST system or a model sends within the default limits, probes and other callers do not notice it',
  databases: ['embedded', 'mysql'],
  shortDatabases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const peers = forkHelper('./stall-peers.process.ts');
    const urls = (await nextMessage(peers)) as CostlyPeers;
    const stage = await Stage.open(environment, urls);
    if (!environment.short) {
      standBack(peers.pid);
    }
    const alone = await stage.noticed(() => new Promise((resolve) => setTimeout(resolve, 2_000)));
    const usual = await stage.besideUsual();
    const told: string[] = [];
    const packages = environment.short ? PACKAGE_ATTACKS.slice(0, PACKAGES_SHORT) : PACKAGE_ATTACKS;
    const attacks = [...ATTACKS, ...serverAttacks(urls), ...workflowAttacks(urls), ...packages];
    const wanted = new RegExp(process.env['PROVE_ATTACK'] ?? '');
    for (const attack of attacks.filter(({ name }) => wanted.test(name))) {
      const answers = environment.short ? ANSWERS_SHORT : ANSWERS;
      told.push(`${attack.name} ${inMs(await stage.demandUnnoticed(attack, usual, answers))}`);
    }
    peers.kill('SIGKILL');
    const generated = await stage.generated(Number(process.env['PROVE_SEED'] ?? randomInt(2 ** 31)), usual);
    await stage.close();
    return `p99 (worst) of /livez, of that of METRICS_PORT, and of reading: alone ${inMs(alone)}; beside short starts of one caller ${inMs(usual)}; ${told.join('; ')}; ${generated}`;
  },
};

/**
 * Attackers come from other machines: their own work must not take the processor from the service, the database and those who watch.
 * This process is one of them; it stays so.
 */
function standBack(peers: number | undefined): void {
  [peers ?? 0, 0].forEach((pid) => setPriority(pid, ATTACKERS_NICENESS));
}

/** The service with a hostile caller, and another one that reads. */
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
    const watch = await StallWatch.open({ url, apart: `http://127.0.0.1:${port}`, path, token });
    return new Stage(watch, !environment.short, attacker);
  }

  /** @returns what others notice while something happens once, and again until so many of their requests were answered */
  async noticed(happens: () => Promise<unknown>, answers = 0): Promise<Noticed> {
    await this.watch.begin();
    const until = performance.now() + LONGEST_ATTACK_MS;
    do {
      await happens();
    } while ((await this.watch.answers()) < answers && performance.now() < until);
    return this.watch.stop();
  }

  /** What others notice of a caller who means no harm, but is not idle: what reading takes is held against that. */
  async besideUsual(): Promise<Noticed> {
    const path = await this.attacker.publish('p', taskProcess('p', userTask('a')));
    return this.noticed(
      starts(this.attacker, path, '{}', USUAL_REQUESTS),
      this.isJudged ? ANSWERS : ANSWERS_SHORT,
    );
  }

  /** @throws ProofError when others notice an attack, again and again: what happens once may be of the machine */
  async demandUnnoticed(attack: Attack, usual: Noticed, answers = 0): Promise<Noticed> {
    const happens = await attack.prepare(this.attacker);
    let noticed = await this.noticed(happens, answers);
    for (let tries = 1; this.isJudged && tries < TRIES && !isUnnoticed(noticed, usual); tries += 1) {
      noticed = await this.noticed(happens, answers);
    }
    const text = `${attack.name}: p99 (worst) of /livez, of that of METRICS_PORT, and of reading ${inMs(noticed)}, beside short starts ${inMs(usual)}`;
    prove(!this.isJudged || isUnnoticed(noticed, usual), text);
    prove(noticed.livez.worst <= SHARED_MACHINE_MS, text);
    return noticed;
  }

  /** Makes attacks of schemas, expressions, BPMN files, packages and bodies until the time is over. */
  async generated(seed: number, usual: Noticed): Promise<string> {
    const until = performance.now() + (this.isJudged ? GENERATED_MS : GENERATED_SHORT_MS);
    let count = 0;
    const worst = { livez: { ms: 0, of: '' }, reading: { ms: 0, of: '' } };
    for (; count === 0 || performance.now() < until; count += 1) {
      const [made] = fc.sample(HOSTILE, { seed: seed + count, numRuns: 1 }) as [Attack];
      const attack = { ...made, name: `generated by PROVE_SEED=${seed + count}: ${made.name}` };
      const noticed = await this.demandUnnoticed(attack, usual, ANSWERS_SHORT);
      for (const kind of ['livez', 'reading'] as const) {
        if (noticed[kind].worst > worst[kind].ms) {
          worst[kind] = { ms: noticed[kind].worst, of: `${made.name}, PROVE_SEED=${seed + count}` };
        }
      }
    }
    const told = Object.entries(worst).map(([kind, { ms, of }]) => `${kind} ${ms.toFixed(0)} ms (${of})`);
    return `${count} generated: worst ${told.join(', ')}`;
  }

  close(): Promise<void> {
    this.watch.close();
    return this.attacker.close();
  }
}

function isUnnoticed({ livez, apart, reading }: Noticed, usual: Noticed): boolean {
  return Math.max(livez.p99, apart.p99) <= LIVEZ_MS && reading.p99 <= 2 * usual.reading.p99 + NOISE_MS;
}

function inMs({ livez, apart, reading }: Noticed): string {
  return `${[livez, apart, reading].map(({ p99, worst }) => `${p99.toFixed(0)} (${worst.toFixed(0)})`).join(' / ')} ms`;
}
