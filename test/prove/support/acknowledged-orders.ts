import { setTimeout as sleep } from 'node:timers/promises';
import { count, entries } from './process-checks.js';
import { ProcessRows, type StoredInstance } from './process-rows.js';
import { prove } from './proof.js';

const LONGEST_DRAIN_MS = 180_000;

/**
 * Waits until the background has done the work of all orders, and checks that none is lost, none is there twice, and each step and job
 * was done once.
 * @param acknowledged UUIDs of orders whose start and first step were acknowledged, all there were
 */
export async function checkOrders(databaseUrl: string, acknowledged: ReadonlySet<string>): Promise<void> {
  const reader = await ProcessRows.open(databaseUrl);
  const deadline = performance.now() + LONGEST_DRAIN_MS;
  let orders = await ordersOf(reader);
  while (orders.some((order) => !isAtRest(order)) && performance.now() < deadline) {
    await sleep(250);
    orders = await ordersOf(reader);
  }
  await reader.close();
  const stored = new Set(orders.map(({ row }) => row.uuid));
  const lost = [...acknowledged].filter((uuid) => !stored.has(uuid));
  prove(lost.length === 0, `${lost.length} acknowledged orders are lost`);
  prove(orders.length === acknowledged.size, `${orders.length} orders for ${acknowledged.size} keys`);
  const undone = orders.filter((order) => !isAtRest(order));
  prove(
    undone.length === 0,
    `${undone.length} orders made a step or a job not once: ${undone.map(told).join(', ')}`,
  );
}

async function ordersOf(reader: ProcessRows): Promise<StoredInstance[]> {
  return (await reader.instances()).filter(({ row }) => row.processName === 'order');
}

/** Where the work of the background is done: what it left, once each. */
function isAtRest(order: StoredInstance): boolean {
  return order.jobs.length === 0 && Object.values(effects(order)).every((times) => times === 1);
}

function effects(order: StoredInstance): Record<string, number> {
  return {
    apply: entries(order, 'left'),
    timer: count(order, 'TIMER_FIRED'),
    tick: Number(order.state.data['ticks']),
    call: count(order, 'CHILD_STARTED'),
    answer: count(order, 'CHILD_ENDED'),
  };
}

function told(order: StoredInstance): string {
  return JSON.stringify({ ...effects(order), jobs: order.jobs.length });
}
