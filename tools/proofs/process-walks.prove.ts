import { forkHelper, nextMessage } from './support/helper-process.js';
import { checkRows, ProcessRows } from './support/process-rows.js';
import type { WalkAnswer, WalkOrder } from './support/process-walker.process.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';

/** Extent of the work: `processes` per worker, `walks` in total. */
interface Work {
  workers: number;
  processes: number;
  walks: number;
}
/** Work on the embedded database, which does not flush to disk here. */
const FILE_WORK: Record<'short' | 'long', Work> = {
  short: { workers: 1, processes: 40, walks: 300 },
  long: { workers: 2, processes: 300, walks: 50_000 },
};
/** Work on a server, where the same steps take longer. */
const SERVER_WORK: Record<'short' | 'long', Work> = {
  short: { workers: 1, processes: 30, walks: 100 },
  long: { workers: 2, processes: 150, walks: 3_000 },
};
/** Concurrent walks on a server; the embedded database runs one transaction at a time. */
const SERVER_CONCURRENCY = 4;
const SEED = Number(process.env['PROVE_SEED'] ?? Math.floor(Math.random() * 1_000_000));

export const proof: Proof = {
  name: 'process-walks',
  claim: `after every step of random walks through random processes the rows match the engine in memory (PROVE_SEED=${SEED})`,
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['embedded', 'mysql'],
  takesLong: true,
  async run(environment) {
    const work = environment.kind === 'embedded' ? FILE_WORK : SERVER_WORK;
    const { workers, walks, processes } = work[environment.short ? 'short' : 'long'];
    const share = { walks: Math.ceil(walks / workers), processes };
    const walked = await Promise.all(
      Array.from({ length: workers }, (_, worker) => walk(environment, worker, share)),
    );
    const sum = (figure: keyof (typeof walked)[number]): number =>
      walked.reduce((all, figures) => all + figures[figure], 0);
    return (
      `PROVE_SEED=${SEED}: ${sum('walks')} walks through ${workers * processes} processes, ${sum('steps')} steps, ` +
      `${sum('backs')} of them back, ${sum('refusals')} rejected; rows and memory equal after each, invariants hold`
    );
  },
};

async function walk(
  environment: ProofEnvironment,
  worker: number,
  { walks, processes }: { walks: number; processes: number },
): Promise<Extract<WalkAnswer, { figures: object }>['figures']> {
  const databaseUrl = await environment.emptyDatabase();
  const order: WalkOrder = {
    databaseUrl,
    settings: { ...environment.settings(databaseUrl), JOBS_CONCURRENCY: '0' },
    seed: (SEED + worker) * 1_000,
    processes,
    walks,
    concurrency: environment.kind === 'embedded' ? 1 : SERVER_CONCURRENCY,
  };
  const helper = forkHelper('process-walker.process.ts');
  helper.send(order);
  const answer = (await nextMessage(helper)) as WalkAnswer;
  helper.disconnect();
  prove('figures' in answer, 'failure' in answer ? answer.failure : '');
  await recheck(databaseUrl, walks);
  return answer.figures;
}

/** Checks all rows again after all writes have ended. */
async function recheck(databaseUrl: string, walks: number): Promise<void> {
  const rows = await ProcessRows.open(databaseUrl);
  const stored = await rows.instances();
  prove(stored.length === walks, `${stored.length} instances are stored instead of ${walks}`);
  stored.forEach(checkRows);
  await rows.close();
}
