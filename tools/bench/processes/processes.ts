import { createPool } from 'mysql2/promise';
import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import { runCallers } from '../callers.js';
import { cpuMicros, databasePid, residentMegabytes } from '../processor.js';
import { MEASURED_SERVICE } from '../service-settings.js';
import { median } from '../table.js';
import { printTurns, takeTurns, type Contender } from './contenders.js';
import { EmbeddedEngine } from './embedded-engine.js';
import { application, chain, FIRST_TASK } from './models.js';
import { record, scripts, spreadIds } from './scripts.js';
import { DATA, FORM, Subject, type Waiting } from './subject.js';

const CALLERS = [1, 16, 64];
const SCRIPT_CALLERS = [16, 64];
const MANY = 64;
const SOME = 16;
const LONG = 200;
const SHORT = 5;

/** Extent of the measurement. */
export interface ProcessBenchOptions {
  serverUrl: string;
  rounds: number;
  /** Duration of each phase in a round. */
  seconds: number;
  /** UI actions per round for the long and the short definition. */
  actions: number;
  /** Number of waiting instances when memory is measured. */
  waiting: number;
}

/**
 * Measures starts, UI actions and reads over HTTP against scripts that send the same statements and an embedded engine that
 * saves its state in one row; then the cost of long definitions and of waiting instances. Prints figures without judging
 * them.
 */
export async function benchProcesses(
  environment: ProofEnvironment,
  { serverUrl, rounds, seconds, actions, waiting }: ProcessBenchOptions,
): Promise<void> {
  const databaseUrl = await environment.emptyDatabase();
  const plainUrl = databaseUrl.replace(/^mariadb:/, 'mysql:');
  const service = await environment.startService(databaseUrl, { ...MEASURED_SERVICE, JOBS_CONCURRENCY: '0' });
  await spreadIds(plainUrl);
  const subject = new Subject(service.url, await environment.token(), MANY);
  await subject.publish({
    application: application('fork'),
    short: chain('short', SHORT),
    long: chain('long', LONG),
  });
  const pool = createPool({ uri: plainUrl, connectionLimit: MANY });
  const recorded = await record(subject, serverUrl, pool);
  const engine = await EmbeddedEngine.open(plainUrl, application('${environment.variables.fork}'), SOME);
  console.log(
    `\nprocesses: ${rounds} rounds, phases of ${seconds} s; the service sends ${recorded.start.length} statements per start and ` +
      `${recorded.action.length} per UI action for a single caller, including BEGIN and COMMIT, and fewer when steps share a transaction`,
  );
  const contenders = [
    subject.contender('service', service.pid, CALLERS, { process: 'application', task: FIRST_TASK }),
    ...scripts(recorded, SCRIPT_CALLERS),
    embedded(engine),
  ];
  printTurns(
    await takeTurns(contenders, {
      rounds,
      seconds,
      warmUpSeconds: seconds / 2,
      databasePid: await databasePid(serverUrl),
    }),
  );
  await engine.close();
  await pool.end();
  await benchLength(subject, service.pid, { rounds, actions });
  await benchWaiting(subject, service.pid, waiting);
  await subject.close();
}

function embedded(engine: EmbeddedEngine): Contender {
  return {
    name: 'bpmn-elements, one row',
    pid: process.pid,
    callers: [SOME],
    start: async (index) => {
      const id = await engine.start({ ...DATA, fork: index % 2 === 1 });
      return { act: () => engine.act(id, FIRST_TASK) };
    },
  };
}

/** Compares the same step in a short and in a long definition. */
async function benchLength(
  subject: Subject,
  pid: number,
  { rounds, actions }: { rounds: number; actions: number },
): Promise<void> {
  const results = new Map<string, { perSecond: number; cpu: number }[]>([
    ['short', []],
    ['long', []],
  ]);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, figures] of results) {
      const started: Waiting[] = [];
      await runCallers(SOME, { count: actions }, async (index) => {
        started[index] = await subject.start(name, DATA);
      });
      await subject.act(name, started[0]!, 'task0', FORM);
      const before = cpuMicros(pid);
      const { perSecond } = await runCallers(SOME, { count: actions - 1 }, (index) =>
        subject.act(name, started[index + 1]!, 'task0', FORM),
      );
      // The first round warms up.
      if (round > 0) {
        figures.push({ perSecond, cpu: (cpuMicros(pid) - before) / (actions - 1) });
      }
    }
  }
  const [short = [], long = []] = results.values();
  const ratio = (key: 'perSecond' | 'cpu'): string =>
    median(long.map((figures, round) => figures[key] / (short[round]?.[key] ?? Number.NaN))).toFixed(2);
  console.log(
    `\na UI action in a definition of ${LONG} user tasks relative to one of ${SHORT}: ` +
      `${ratio('perSecond')} of the actions per second, ${ratio('cpu')} of the processor time`,
  );
}

async function benchWaiting(subject: Subject, pid: number, count: number): Promise<void> {
  const before = residentMegabytes(pid);
  await runCallers(SOME, { count }, () => subject.start('application', DATA));
  const growth = residentMegabytes(pid) - before;
  console.log(`${count} more waiting instances: ${growth.toFixed(0)} MB more memory of the service`);
}
