import { setTimeout as sleep } from 'node:timers/promises';
import { checkRows, count, entries, type StoredInstance } from './support/process-rows.js';
import { CHECK, ORDER } from './support/process-models.js';
import { Orders, type Order } from './support/process-orders.js';
import { killDatabase, killService, ProcessSite } from './support/process-site.js';
import { prove, type Proof } from './support/proof.js';

const CALLERS = 16;
const FINISH_TIMEOUT_MS = 180_000;

export const proof: Proof = {
  name: 'process-crash',
  claim:
    'kill -9 of the service and of the database loses no acknowledged step, leaves no inconsistent instance, and every job is done exactly once',
  databases: ['embedded', 'mariadb', 'mysql'],
  shortDatabases: ['mariadb'],
  needsOwnServer: true,
  async run(environment) {
    const kills = environment.short ? 1 : 20;
    const databaseKills = environment.kind === 'embedded' ? 0 : environment.short ? 1 : 6;
    const site = await ProcessSite.open(environment);
    const build = await site.client.publish({ order: ORDER, check: CHECK });
    const orders = new Orders(build, () => site);
    for (let kill = 0; kill < kills; kill += 1) {
      await killService(site, orders, { callers: CALLERS, moment: sleep(200 + 800 * Math.random()) });
      checkConsistent(await site.rows.instances(), orders.all);
      await site.restart();
    }
    for (let kill = 0; kill < databaseKills; kill += 1) {
      await killDatabase(site, orders, { callers: CALLERS, moment: sleep(300 + 700 * Math.random()) });
      checkConsistent(await site.rows.instances(), orders.all);
    }
    await orders.finish(CALLERS, FINISH_TIMEOUT_MS);
    await site.waitForJobs();
    // In a short run, which shares the machine, callers may not overlap.
    prove(environment.short || site.shared > 0, 'no shared transaction was written before a kill');
    const events = checkFinished(await site.rows.instances(), orders.all);
    await site.close();
    return (
      `${kills} kills of the service, ${databaseKills} of the database: ${orders.acknowledged} steps acknowledged, ${site.shared} shared writes before kills, ` +
      `${orders.interrupted} interrupted; ${orders.all.length} instances and as many called, ${events} events; 0 lost, 0 gaps, ` +
      `0 without a live token, 0 jobs left, every timer and call exactly once`
    );
  },
};

/** Checks what must always hold: rows are consistent, and everything acknowledged is stored. */
function checkConsistent(stored: readonly StoredInstance[], orders: readonly Order[]): void {
  stored.forEach(checkRows);
  const instances = new Map(stored.map((instance) => [instance.row.uuid, instance]));
  for (const { name, place, done } of orders) {
    const instance = instances.get(place?.process ?? '');
    prove(place === undefined || instance !== undefined, `the start of ${name} was acknowledged but is lost`);
    for (const task of done) {
      prove(
        instance?.state.data[task] === `${name}-${task}` && executions(instance, task) === 1,
        `${task} of ${name} was acknowledged but is lost`,
      );
    }
  }
}

/**
 * Checks what must hold when all orders have ended: each step and job took effect exactly once.
 * @returns the number of checked events
 */
function checkFinished(stored: readonly StoredInstance[], orders: readonly Order[]): number {
  checkConsistent(stored, orders);
  const started = stored.filter(({ row }) => row.processName === 'order');
  const called = stored.filter(({ row }) => row.processName === 'check');
  const names = new Set(started.map(({ state }) => state.data['order']));
  prove(
    started.length === orders.length && names.size === orders.length,
    `${started.length} instances of ${names.size} orders are stored for ${orders.length} started orders`,
  );
  const children = new Map(called.map((child) => [child.row.parentId ?? undefined, child]));
  prove(
    called.length === started.length && children.size === called.length,
    `${called.length} processes were called for ${children.size} of ${started.length} instances`,
  );
  for (const instance of started) {
    checkOrder(instance, children.get(instance.row.id));
  }
  return stored.reduce((sum, { events }) => sum + events.length, 0);
}

function checkOrder(instance: StoredInstance, child: StoredInstance | undefined): void {
  const { state, row } = instance;
  const name = String(state.data['order']);
  prove(row.state === 'FINISHED' && child?.row.state === 'FINISHED', `${name} is ${row.state}`);
  prove(row.content.joins.length === 0, `${name} ended with tokens at a join`);
  const checked = state.data['checked'] as { checks?: unknown } | undefined;
  const effects = {
    timer: count(instance, 'TIMER_FIRED'),
    tick: Number(state.data['ticks']),
    call: count(instance, 'CHILD_STARTED'),
    answer: count(instance, 'CHILD_ENDED'),
    check: Number(checked?.checks),
    apply: executions(instance, 'apply'),
    left: executions(instance, 'left'),
    sign: executions(instance, 'sign'),
    join: entries(instance, 'sign'),
  };
  prove(
    Object.values(effects).every((times) => times === 1),
    `effects of ${name} are not present exactly once: ${JSON.stringify(effects)}`,
  );
}

/** Returns how often an action of a node was executed. */
function executions({ events, definition }: StoredInstance, key: string): number {
  return events.filter(
    ({ kind, node }) => kind === 'ACTION_EXECUTED' && definition.node(node ?? -1).key === key,
  ).length;
}
