import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../packages/engine/test/support/random.js';
import { isAcknowledged, isRefused, type Call, type Course } from './support/history-calls.js';
import { HistoryCallers } from './support/history-callers.js';
import { checkCourse, type CourseFigures } from './support/history-check.js';
import { LOOPS } from './support/process-models.js';
import { killDatabase, killService, ProcessSite, type KillPlan } from './support/process-site.js';
import { prove, type Proof } from './support/proof.js';
import { rows } from './support/rows.js';

const CALLERS = 32;
/** Minimum number of acknowledged calls before a kill. */
const MIN_CALLS = 100;
const MAX_CALLS = 500;
const MAX_LOAD_MS = 6_000;
const SETTINGS = {
  PROCESS_UI_ACTION_ACCESS: 'any-token',
  // Longer than the proof, so that no double click executes a back action.
  'processLimits.repeatWindowMs': '60000',
};

export const proof: Proof = {
  name: 'process-history',
  claim:
    'a random history of starts and UI actions under kill -9 of the service and of the database is allowed by the model: acknowledged ones take effect exactly once and in order, rejected ones never, others at most once',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mysql'],
  needsOwnServer: true,
  async run(environment) {
    const seed = Number(process.env['PROVE_SEED'] ?? randomInt(2 ** 31));
    const kills = environment.short ? 1 : 20;
    const databaseKills = environment.kind === 'embedded' ? 0 : environment.short ? 1 : 20;
    const site = await ProcessSite.open(environment, SETTINGS);
    try {
      return await runWithKills(site, seed, { kills, databaseKills, short: environment.short });
    } catch (error) {
      throw new Error(`with PROVE_SEED=${seed}`, { cause: error });
    } finally {
      await site.close();
    }
  },
};

async function runWithKills(
  site: ProcessSite,
  seed: number,
  { kills, databaseKills, short }: { kills: number; databaseKills: number; short: boolean },
): Promise<string> {
  const random = new Random(seed);
  const history = new HistoryCallers(await site.client.publish({ loops: LOOPS }), seed, () => site);
  const plan = (): KillPlan => ({
    callers: CALLERS,
    moment: untilAcknowledged(history, random.between(MIN_CALLS, MAX_CALLS)),
  });
  for (let kill = 0; kill < kills; kill += 1) {
    await killService(site, history, plan());
    await check(site, history.courses);
    await site.restart();
  }
  for (let kill = 0; kill < databaseKills; kill += 1) {
    await killDatabase(site, history, plan());
    await check(site, history.courses);
  }
  // In a short run, which shares the machine, callers may not overlap.
  prove(short || site.shared > 0, 'no shared transaction was written before a kill');
  const { effects, unanswered, refused } = await check(site, history.courses);
  await checkRepeats(site, history.courses);
  const calls = history.courses.flatMap((course) => [
    ...course.calls,
    ...course.operations.flatMap((operation) => operation.calls),
  ]);
  const broken = calls.filter(({ reply }) => reply === undefined).length;
  prove(broken > 0, 'no kill hit a call, so the proof is inconclusive');
  const count = (is: (call: Call) => boolean): number => calls.filter(is).length;
  const readings = history.courses.reduce((sum, course) => sum + course.readings.length, 0);
  return (
    `PROVE_SEED=${seed}: ${kills} kills of the service, ${databaseKills} of the database, ${site.shared} shared writes before kills; ` +
    `${history.courses.length} starts, ${calls.length} calls: ${count(isAcknowledged)} acknowledged, ${count(isRefused)} rejected (${refused} of them UI actions), ` +
    `${broken} interrupted; ${effects} UI actions took effect, ${unanswered} of them unanswered, and ${readings} reads are consistent; 0 lost, 0 duplicated, 0 out of order`
  );
}

/** Waits until `calls` more calls are acknowledged, at most MAX_LOAD_MS, since the machine may be busy. */
async function untilAcknowledged(history: HistoryCallers, calls: number): Promise<void> {
  const enough = history.acknowledged + calls;
  const deadline = performance.now() + MAX_LOAD_MS;
  while (history.acknowledged < enough && performance.now() < deadline) {
    await sleep(5);
  }
}

/** Checks all responses so far against the stored data. */
async function check(site: ProcessSite, courses: readonly Course[]): Promise<CourseFigures> {
  const stored = await site.rows.instances();
  const instances = new Map(stored.map((instance) => [String(instance.state.data['name']), instance]));
  const names = new Set(courses.map(({ start }) => start.name));
  prove(instances.size === stored.length, `${stored.length - instances.size} starts took effect twice`);
  for (const name of instances.keys()) {
    prove(names.has(name), `${name} is stored but was never requested`);
  }
  const sum: CourseFigures = { effects: 0, unanswered: 0, refused: 0 };
  for (const course of courses) {
    const figures = checkCourse(course, instances.get(course.start.name));
    sum.effects += figures.effects;
    sum.unanswered += figures.unanswered;
    sum.refused += figures.refused;
  }
  return sum;
}

/** Checks, when all calls have ended, that exactly one response is stored for each Idempotency-Key that took effect. */
async function checkRepeats(
  { databaseUrl, rows: read }: ProcessSite,
  courses: readonly Course[],
): Promise<void> {
  const stored = await read.instances();
  const effects = new Set(
    stored.flatMap(({ state }) => [state.data['name'], ...(state.data['log'] as unknown[])]),
  );
  const keys = courses.flatMap(({ key, operations }) => [
    key,
    ...operations.flatMap((operation) => (operation.wrong === undefined ? [operation.key] : [])),
  ]);
  const expected = keys.filter((key) => effects.has(key)).length;
  const kept = (await rows(databaseUrl, 'SELECT key_hash FROM process_repeats')).length;
  prove(kept === expected, `${kept} responses are stored for ${expected} keys that took effect`);
}
