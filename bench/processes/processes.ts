import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { createConnection, createPool, type Pool } from 'mysql2/promise';
import type { ProofEnvironment } from '../../test/prove/support/proof-environment.js';
import { cpuTicks, median } from '../load.js';
import { recordStatements } from '../statements.js';
import { runCallers, type Calls } from './callers.js';
import { EmbeddedEngine } from './embedded-engine.js';
import { application, chain, FIRST_TASK } from './models.js';
import { Replay } from './replay.js';
import { Subject, type Waiting } from './subject.js';

const CALLERS = 16;
const DATA = { fork: false, amount: 1_200, applicant: { name: 'Ada Example', city: 'London' } };
const FORM = { amount: 1_500, comment: 'as agreed', applicant: { city: 'Paris' } };
const TICK_MICROS = 10_000;
const LONG = 200;
const SHORT = 5;
/** Far apart and long, so that no id of a recorded statement is part of another number. */
const FIRST_IDS: Record<string, number> = {
  'process-instance': 41_000_000_001,
  'process-token': 42_000_000_001,
  job: 43_000_000_001,
};
/** What the replay counts its ids from. */
const REPLAY_IDS = 51_000_000_001;

/** How much is measured. */
export interface ProcessBenchOptions {
  serverUrl: string;
  rounds: number;
  /** Starts, and as many UI actions, in a round. */
  starts: number;
  /** Instances that wait while memory is looked at. */
  waiting: number;
}

/**
 * Starts and UI actions over HTTP beside the same statements sent by a script, and beside an embedded engine that saves
 * its state in one row; then the cost of long definitions and of waiting instances. Prints figures and judges none.
 */
export async function benchProcesses(
  environment: ProofEnvironment,
  { serverUrl, rounds, starts, waiting }: ProcessBenchOptions,
): Promise<void> {
  const databaseUrl = await environment.emptyDatabase();
  const plainUrl = databaseUrl.replace(/^mariadb:/, 'mysql:');
  const service = await environment.startService(databaseUrl, {
    LOG_LEVEL: 'info',
    JOBS_WORKERS: 'false',
    RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000',
    RATE_LIMIT_PRINCIPAL_PER_MINUTE: '1000000',
    HTTP_CALLER_REQUESTS: '1000000',
    HTTP_CALLER_AT_WORK: '1000000',
  });
  await spreadIds(plainUrl);
  const subject = new Subject(service.url, await environment.token(), CALLERS);
  await subject.publish({
    application: application('fork'),
    short: chain('short', SHORT),
    long: chain('long', LONG),
  });
  const pool = createPool({ uri: plainUrl, connectionLimit: CALLERS });
  const bare = await BareScript.record(subject, serverUrl, pool);
  const engine = await EmbeddedEngine.open(plainUrl, application('${environment.variables.fork}'), CALLERS);
  console.log(
    `\nprocesses: ${CALLERS} callers, ${rounds} rounds of ${starts} starts and ${starts} UI actions; ` +
      `${bare.start.length} statements a start, ${bare.action.length} a UI action, BEGIN and COMMIT included`,
  );
  const results: Record<string, Round[]> = {};
  for (let round = 0; round <= rounds; round += 1) {
    const measured: Record<string, Round> = {
      service: await serviceRound(subject, starts),
      'bare mysql2 script': await bare.round(starts),
      'bpmn-elements, one row': await engineRound(engine, Math.ceil(starts / 8)),
    };
    // The first round warms up.
    if (round > 0) {
      Object.entries(measured).forEach(([name, figures]) => (results[name] ??= []).push(figures));
    }
  }
  printRounds(results);
  await engine.close();
  await pool.end();
  await benchLength(subject, service.pid, { rounds, starts });
  await benchWaiting(subject, service.pid, waiting);
  await subject.close();
}

interface Round {
  start: Calls;
  action: Calls;
}

async function serviceRound(subject: Subject, count: number): Promise<Round> {
  const started: Waiting[] = [];
  const start = await runCallers(CALLERS, count, async (index) => {
    started[index] = await subject.start('application', { ...DATA, fork: index % 2 === 1 });
  });
  const action = await runCallers(CALLERS, count, (index) =>
    subject.act('application', started[index]!, FIRST_TASK, FORM),
  );
  return { start, action };
}

async function engineRound(engine: EmbeddedEngine, count: number): Promise<Round> {
  const started: string[] = [];
  const start = await runCallers(CALLERS, count, async (index) => {
    started[index] = await engine.start({ ...DATA, fork: index % 2 === 1 });
  });
  const action = await runCallers(CALLERS, count, (index) => engine.act(started[index]!, FIRST_TASK));
  return { start, action };
}

/** The statements of one start and of one UI action, for rows of its own. */
class BareScript {
  private last = REPLAY_IDS;

  private constructor(
    private readonly pool: Pool,
    readonly start: Replay,
    readonly action: Replay,
  ) {}

  static async record(subject: Subject, serverUrl: string, pool: Pool): Promise<BareScript> {
    // Fills every cache and learns the id of the UI action, neither of which belongs to a request.
    await subject.act('application', await subject.start('application', DATA), FIRST_TASK, FORM);
    let waiting: Waiting | undefined;
    const start = await recordStatements(serverUrl, '', async () => {
      waiting = await subject.start('application', DATA);
    });
    const action = await recordStatements(serverUrl, '', () =>
      subject.act('application', waiting!, FIRST_TASK, FORM),
    );
    const ids = idsOf(waiting!);
    return new BareScript(pool, new Replay(start, ids), new Replay(action, ids));
  }

  async round(count: number): Promise<Round> {
    const rows = Array.from({ length: count }, () => {
      this.last += 1;
      return idsOf({
        instanceId: this.last,
        tokenId: this.last + 1_000_000_000,
        uuid: randomUUID(),
        tokenUuid: randomUUID(),
      });
    });
    const start = await runCallers(CALLERS, count, (index) => this.start.run(this.pool, rows[index]!));
    const action = await runCallers(CALLERS, count, (index) => this.action.run(this.pool, rows[index]!));
    return { start, action };
  }
}

function idsOf({ instanceId, uuid, tokenId, tokenUuid }: Waiting): string[] {
  return [String(instanceId), uuid, String(tokenId), tokenUuid];
}

/** Lets ids begin where they are recognised in a statement. */
async function spreadIds(databaseUrl: string): Promise<void> {
  const connection = await createConnection({ uri: databaseUrl });
  for (const [name, next] of Object.entries(FIRST_IDS)) {
    await connection.query('REPLACE INTO id_blocks (name, next) VALUES (?, ?)', [name, next]);
  }
  await connection.end();
}

/** The same step in a short and in a long definition. */
async function benchLength(
  subject: Subject,
  pid: number,
  { rounds, starts }: { rounds: number; starts: number },
): Promise<void> {
  const results = new Map<string, { perSecond: number; cpu: number }[]>([
    ['short', []],
    ['long', []],
  ]);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, figures] of results) {
      const started: Waiting[] = [];
      for (let index = 0; index < starts; index += 1) {
        started[index] = await subject.start(name, DATA);
      }
      await subject.act(name, started[0]!, 'task0', FORM);
      const ticks = cpuTicks(pid);
      const { perSecond } = await runCallers(CALLERS, starts - 1, (index) =>
        subject.act(name, started[index + 1]!, 'task0', FORM),
      );
      if (round > 0) {
        figures.push({ perSecond, cpu: ((cpuTicks(pid) - ticks) * TICK_MICROS) / (starts - 1) });
      }
    }
  }
  const [short = [], long = []] = results.values();
  const ratio = (key: 'perSecond' | 'cpu'): string =>
    median(long.map((figures, round) => figures[key] / (short[round]?.[key] ?? Number.NaN))).toFixed(2);
  console.log(
    `\na UI action in a definition of ${LONG} user tasks beside one of ${SHORT}: ` +
      `${ratio('perSecond')} of the actions a second, ${ratio('cpu')} of the processor time`,
  );
}

async function benchWaiting(subject: Subject, pid: number, count: number): Promise<void> {
  const before = residentMegabytes(pid);
  await runCallers(CALLERS, count, () => subject.start('application', DATA));
  const growth = residentMegabytes(pid) - before;
  console.log(`${count} more waiting instances: ${growth.toFixed(0)} MB more memory of the service`);
}

/** Resident memory (proc_pid_status(5)). */
function residentMegabytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

function printRounds(results: Record<string, Round[]>): void {
  const [subject = []] = Object.values(results);
  console.log(row(['', 'starts/s', 'p99 ms', 'service / it', 'UI actions/s', 'p99 ms', 'service / it']));
  for (const [name, rounds] of Object.entries(results)) {
    const cells = (['start', 'action'] as const).flatMap((kind) => [
      median(rounds.map((round) => round[kind].perSecond)).toFixed(0),
      median(rounds.map((round) => round[kind].p99)).toFixed(1),
      median(
        rounds.map((round, index) => (subject[index]?.[kind].perSecond ?? 0) / round[kind].perSecond),
      ).toFixed(2),
    ]);
    console.log(row([name, ...cells]));
  }
}

function row([name = '', ...figures]: string[]): string {
  return name.padEnd(24) + figures.map((figure) => figure.padStart(14)).join('');
}
