import { setTimeout as sleep } from 'node:timers/promises';
import { modelCall, toolCall, UNSAFE_TOOL } from './support/agent-orders.js';
import { type AgentInstance, AgentSite } from './support/agent-site.js';
import type { CallCounts } from './support/helper-process.js';
import { doNumbered, prove, type Proof } from './support/proof.js';

const CALLERS = 8;
/** Maximum calls before a replica is killed. A run makes seven calls, and ten runs begin per replica. */
const MAX_CALLS_PER_REPLICA = 110;
/** Same for a short proof: fewer calls than its runs make, so that the kill hits one. */
const SHORT_MAX_CALLS_PER_REPLICA = 50;
/** Maximum additional kills if no kill has hit a call so far. */
const MAX_EXTRA_KILLS = 10;
const FINISH_TIMEOUT_MS = 300_000;
const POLL_MS = 250;
const UNKNOWN = 'CALL_OUTCOME_UNKNOWN';

export const proof: Proof = {
  name: 'agent-crash',
  claim:
    'after kill -9 of the service during agent runs, no journaled step is repeated, a call of unknown outcome is repeated only if that is safe, and every run ends',
  databases: ['embedded', 'mariadb', 'mysql'],
  // A killed service leaves the committed part of its journal on any database. `process-crash` covers how jobs are claimed
  // on MariaDB.
  shortDatabases: ['mysql'],
  async run(environment) {
    const kills = environment.short ? 1 : 100;
    const runs = environment.short ? 10 : 1_000;
    const maxCalls = environment.short ? SHORT_MAX_CALLS_PER_REPLICA : MAX_CALLS_PER_REPLICA;
    const site = await AgentSite.open(environment);
    const build = await site.publish();
    const journal = new JournalWatch(site);
    let hits = 0;
    let kill = 0;
    for (; kill < kills || (hits === 0 && kill < kills + MAX_EXTRA_KILLS); kill += 1) {
      const first = Math.floor((runs * kill) / kills);
      const count = Math.floor((runs * (kill + 1)) / kills) - first;
      await doNumbered(count, CALLERS, (index) => site.start(build, `order-${first + index}`));
      await site.receive(Math.ceil(Math.random() * maxCalls));
      await site.kill();
      await journal.check();
      hits += journal.inFlight > 0 ? 1 : 0;
      await site.restart();
    }
    prove(hits > 0, 'no kill hit a call, so the proof is inconclusive');
    const stopped = (await ended(site)).filter(({ state }) => state !== 'FINISHED');
    await journal.check();
    checkCalls(site, await site.counts(), stopped);
    const left = journal.figures();
    await doNumbered(stopped.length, CALLERS, (index) => site.retry(stopped[index]?.uuid ?? ''));
    const finished = await ended(site);
    prove(
      finished.every(({ state }) => state === 'FINISHED'),
      'a manually retried run did not finish',
    );
    await journal.check();
    checkRetried(site, await site.counts(), stopped);
    await site.close();
    return (
      `${kill} kills, ${hits} during calls, in ${site.orders.size} agent runs: ${left.calls} calls journaled, ${journal.repeated} of them repeated; ` +
      `${left.again} safe calls of unknown outcome repeated, ${stopped.length} unsafe ones retried manually; all runs finished`
    );
  },
};

/** Checks that calls which the journal records as done are never repeated. */
class JournalWatch {
  /** Number of times each call had been received when it was first found done. */
  private readonly done = new Map<string, number>();
  private again = 0;
  repeated = 0;
  /** Number of calls without an outcome at the last check. */
  inFlight = 0;

  constructor(private readonly site: AgentSite) {}

  async check(): Promise<void> {
    const calls = await this.site.rows.calls(this.site.orders);
    const counts = await this.site.counts();
    this.again = 0;
    this.inFlight = calls.filter(({ state }) => state === 'CLAIMED').length;
    for (const { name, state, tries } of calls) {
      const received = counts[name] ?? 0;
      prove(received <= tries, `${name} was started ${tries} times but received ${received} times`);
      this.again += Math.max(0, received - 1);
      if (state !== 'DONE') {
        continue;
      }
      const before = this.done.get(name) ?? received;
      this.repeated += received - before;
      prove(received === before, `${name} was done but was repeated`);
      prove(received > 0, `${name} is done but was never received`);
      this.done.set(name, before);
    }
  }

  figures(): { calls: number; again: number } {
    return { calls: this.done.size, again: this.again };
  }
}

/** Waits until every run has finished or stopped with an incident. */
async function ended(site: AgentSite): Promise<AgentInstance[]> {
  const deadline = performance.now() + FINISH_TIMEOUT_MS;
  for (;;) {
    const instances = await site.rows.instances();
    const open = instances.filter(({ state, openIncidents }) => state !== 'FINISHED' && openIncidents === 0);
    if (open.length === 0) {
      instances.forEach((instance) => checkInstance(site, instance));
      return instances;
    }
    prove(performance.now() < deadline, `${open.length} runs did not end within ${FINISH_TIMEOUT_MS} ms`);
    await sleep(POLL_MS);
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

/** Checks the calls before any manual retry. */
function checkCalls(site: AgentSite, counts: CallCounts, stopped: readonly AgentInstance[]): void {
  const left = new Set(stopped.map(({ uuid }) => uuid));
  for (const [uuid, order] of site.orders) {
    const booked = counts[toolCall(order, UNSAFE_TOOL)] ?? 0;
    prove(left.has(uuid) ? booked <= 1 : booked === 1, `${order} was booked ${booked} times`);
    prove(counts[modelCall(order, 0)] !== undefined, `${order} never reached the model`);
  }
}

/** Checks that a manual retry repeats only the one call of unknown outcome. */
function checkRetried(site: AgentSite, counts: CallCounts, stopped: readonly AgentInstance[]): void {
  for (const { uuid } of stopped) {
    const order = site.orders.get(uuid) ?? '';
    const booked = counts[toolCall(order, UNSAFE_TOOL)] ?? 0;
    prove(booked === 1 || booked === 2, `${order} was booked ${booked} times after one retry`);
  }
}
