import { setTimeout as sleep } from 'node:timers/promises';
import { modelCall, toolCall, UNSAFE_TOOL } from './support/agent-orders.js';
import { type AgentInstance, AgentSite } from './support/agent-site.js';
import type { CallCounts } from './support/helper-process.js';
import { doNumbered, prove, type Proof } from './support/proof.js';

const CALLERS = 8;
/** Calls of a replica before it is killed; a run makes seven, and ten runs begin in each life. */
const MOST_CALLS_OF_A_LIFE = 110;
/** Of a short run: fewer than its runs make, so that a kill hits one. */
const SHORT_CALLS_OF_A_LIFE = 50;
/** Lives after those that were wanted, in case no kill has hit a call. */
const MOST_MORE_KILLS = 10;
const LONGEST_FINISH_MS = 300_000;
const LOOK_MS = 250;
const UNKNOWN = 'CALL_OUTCOME_UNKNOWN';

export const proof: Proof = {
  name: 'agent-crash',
  claim:
    'kill -9 of the service during agent runs repeats no journaled step, repeats a call of unknown outcome only where that is safe, and every run ends',
  databases: ['embedded', 'mariadb', 'mysql'],
  // What a kill leaves of the journal is what was committed. How jobs are taken on MariaDB `process-crash` proves.
  shortDatabases: ['mysql'],
  async run(environment) {
    const kills = environment.short ? 1 : 100;
    const runs = environment.short ? 10 : 1_000;
    const mostCalls = environment.short ? SHORT_CALLS_OF_A_LIFE : MOST_CALLS_OF_A_LIFE;
    const site = await AgentSite.open(environment);
    const build = await site.publish();
    const journal = new JournalWatch(site);
    let hits = 0;
    let kill = 0;
    for (; kill < kills || (hits === 0 && kill < kills + MOST_MORE_KILLS); kill += 1) {
      const first = Math.floor((runs * kill) / kills);
      const count = Math.floor((runs * (kill + 1)) / kills) - first;
      await doNumbered(count, CALLERS, (index) => site.start(build, `order-${first + index}`));
      await site.receive(Math.ceil(Math.random() * mostCalls));
      await site.kill();
      await journal.look();
      hits += journal.underWay > 0 ? 1 : 0;
      await site.restart();
    }
    prove(hits > 0, 'no kill hit a call, so nothing was proved');
    const stopped = (await ended(site)).filter(({ state }) => state !== 'FINISHED');
    await journal.look();
    checkCalls(site, await site.counts(), stopped);
    const left = journal.figures();
    await doNumbered(stopped.length, CALLERS, (index) => site.retry(stopped[index]?.uuid ?? ''));
    const finished = await ended(site);
    prove(
      finished.every(({ state }) => state === 'FINISHED'),
      'a run that a person retried did not finish',
    );
    await journal.look();
    checkRetried(site, await site.counts(), stopped);
    await site.close();
    return (
      `${kill} kills, ${hits} during calls, in ${site.orders.size} agent runs: ${left.calls} calls journaled, ${journal.repeated} of them made again after they were; ` +
      `${left.again} of unknown outcome made again where that is safe, ${stopped.length} left to a person, who had them made once more; all runs finished`
    );
  },
};

/** Watches that what the journal has as done is never asked for again. */
class JournalWatch {
  /** How often a call had been received when it was found done. */
  private readonly done = new Map<string, number>();
  private again = 0;
  repeated = 0;
  /** Calls that had been begun and had no outcome at the last look. */
  underWay = 0;

  constructor(private readonly site: AgentSite) {}

  async look(): Promise<void> {
    const calls = await this.site.rows.calls(this.site.orders);
    const counts = await this.site.counts();
    this.again = 0;
    this.underWay = calls.filter(({ state }) => state === 'CLAIMED').length;
    for (const { name, state, tries } of calls) {
      const received = counts[name] ?? 0;
      prove(received <= tries, `${name} was begun ${tries} times and received ${received} times`);
      this.again += Math.max(0, received - 1);
      if (state !== 'DONE') {
        continue;
      }
      const before = this.done.get(name) ?? received;
      this.repeated += received - before;
      prove(received === before, `${name} was done and was made again`);
      prove(received > 0, `${name} is done and was never received`);
      this.done.set(name, before);
    }
  }

  figures(): { calls: number; again: number } {
    return { calls: this.done.size, again: this.again };
  }
}

/** Waits until every run has finished or waits for a person. */
async function ended(site: AgentSite): Promise<AgentInstance[]> {
  const deadline = performance.now() + LONGEST_FINISH_MS;
  for (;;) {
    const instances = await site.rows.instances();
    const open = instances.filter(({ state, openIncidents }) => state !== 'FINISHED' && openIncidents === 0);
    if (open.length === 0) {
      instances.forEach((instance) => checkInstance(site, instance));
      return instances;
    }
    prove(performance.now() < deadline, `${open.length} runs have not ended after ${LONGEST_FINISH_MS} ms`);
    await sleep(LOOK_MS);
  }
}

function checkInstance(site: AgentSite, { uuid, state, run }: AgentInstance): void {
  const order = site.orders.get(uuid);
  prove(order !== undefined, `instance ${uuid} was never acknowledged`);
  if (state === 'FINISHED') {
    const answer = (run?.output as { order?: unknown } | null)?.order;
    prove(answer === order, `${order} finished with ${JSON.stringify(run)}`);
  } else {
    prove(run?.code === UNKNOWN, `${order} is ${state} with ${JSON.stringify(run)}`);
  }
}

/** What must hold before a person decides anything. */
function checkCalls(site: AgentSite, counts: CallCounts, stopped: readonly AgentInstance[]): void {
  const left = new Set(stopped.map(({ uuid }) => uuid));
  for (const [uuid, order] of site.orders) {
    const booked = counts[toolCall(order, UNSAFE_TOOL)] ?? 0;
    prove(left.has(uuid) ? booked <= 1 : booked === 1, `${order} was booked ${booked} times`);
    prove(counts[modelCall(order, 0)] !== undefined, `${order} never reached the model`);
  }
}

/** A retry makes the one call of unknown outcome once more, and no other. */
function checkRetried(site: AgentSite, counts: CallCounts, stopped: readonly AgentInstance[]): void {
  for (const { uuid } of stopped) {
    const order = site.orders.get(uuid) ?? '';
    const booked = counts[toolCall(order, UNSAFE_TOOL)] ?? 0;
    prove(booked === 1 || booked === 2, `${order} was booked ${booked} times after one retry`);
  }
}
