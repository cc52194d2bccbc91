import { setTimeout as sleep } from 'node:timers/promises';
import type { ProofEnvironment } from '../../proofs/support/proof-environment.js';
import { CHECK, ORDER } from '../../proofs/support/process-models.js';
import { Orders } from '../../proofs/support/process-orders.js';
import { ProcessSite } from '../../proofs/support/process-site.js';
import { rows } from '../../proofs/support/rows.js';
import { figure, printTable } from '../table.js';

const CALLERS = 16;
const LONGEST_FINISH_MS = 300_000;

/** Bytes on disk and rows of a table. */
interface Size {
  bytes: number;
  rows: number;
}

/**
 * Measures what an order permanently stores: a start, three UI actions in two branches, a timer and a called process. Sizes
 * are those of InnoDB pages including indexes, so with few orders nearly empty pages count in full.
 */
export async function benchStorage(
  environment: ProofEnvironment,
  { orders: wanted }: { orders: number },
): Promise<void> {
  const site = await ProcessSite.open(environment);
  const build = await site.client.publish({ order: ORDER, check: CHECK });
  const before = await sizes(site.databaseUrl);
  const orders = new Orders(build, () => site);
  const work = orders.run(CALLERS);
  while (orders.all.length < wanted) {
    await Promise.race([work, sleep(20)]);
  }
  orders.pause();
  await work;
  await orders.finish(CALLERS, LONGEST_FINISH_MS);
  await site.waitForJobs();
  const after = await sizes(site.databaseUrl);
  await site.close();
  const count = orders.all.length;
  const lines = [...after]
    .map(([table, size]) => {
      const { bytes = 0, rows: known = 0 } = before.get(table) ?? {};
      return { table, bytes: (size.bytes - bytes) / count, rows: (size.rows - known) / count };
    })
    .filter(({ bytes }) => bytes >= 1)
    .toSorted((one, other) => other.bytes - one.bytes);
  const totalBytes = lines.reduce((sum, { bytes }) => sum + bytes, 0);
  printTable(
    `${count} orders: storage per order`,
    ['table', 'rows', 'bytes', 'share'],
    [...lines, { table: 'total', bytes: totalBytes, rows: Number.NaN }].map(
      ({ table, bytes, rows: each }) => [
        table,
        figure(each, 1),
        bytes.toFixed(0),
        `${((100 * bytes) / totalBytes).toFixed(0)} %`,
      ],
    ),
  );
}

async function sizes(databaseUrl: string): Promise<Map<string, Size>> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const tables = (
    await rows(
      databaseUrl,
      `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${name}'`,
    )
  ).map((row) => String(row['name']));
  // Only ANALYZE refreshes both size columns.
  await rows(databaseUrl, `ANALYZE TABLE ${tables.map((table) => `\`${table}\``).join(', ')}`);
  const found = await Promise.all(
    tables.map(async (table) => {
      const [size] = await rows(
        databaseUrl,
        `SELECT /*+ SET_VAR(information_schema_stats_expiry=0) */ DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${name}' AND TABLE_NAME = '${table}'`,
      );
      const [counted] = await rows(databaseUrl, `SELECT COUNT(*) AS found FROM \`${table}\``);
      return [table, { bytes: Number(size?.['bytes']), rows: Number(counted?.['found']) }] as const;
    }),
  );
  return new Map(found);
}
