import { request } from 'undici';
import type { Vtcombo } from '../../support/databases/vtcombo.js';

/** How often something was executed, and to how many shards that went in all. */
interface Count {
  executions: number;
  routes: number;
}

/** What was sent to vtgate in a time. */
export interface Sent {
  executions: number;
  /** Shards beyond one for each execution, whatever the statements were. */
  surplus: number;
  /** Statements that went to more than one shard. One that was sent less than three times may be missing: vtgate does not keep its plan. */
  scattered: (Count & { sql: string })[];
  /** Transactions that were committed in more than one shard. */
  crossing: number;
}

interface Counts {
  /** By kind of statement and plan. */
  kinds: Map<string, Count>;
  /** By statement. */
  statements: Map<string, Count>;
  crossing: number;
}

/** Transactions are begun and ended in shards where statements were. */
const OF_TRANSACTIONS = /^(BEGIN|COMMIT|ROLLBACK)\b/;
const NONE: Count = { executions: 0, routes: 0 };

/** Counts to how many shards statements go, by what vtgate tells. */
export class VitessCounts {
  private constructor(
    private readonly url: string,
    private before: Counts,
  ) {}

  /** Counts from now on. */
  static async of({ debugPort }: Vtcombo): Promise<VitessCounts> {
    const url = `http://127.0.0.1:${debugPort}/debug`;
    return new VitessCounts(url, await countsAt(url));
  }

  /** What was sent since the last time that somebody asked. */
  async sent(): Promise<Sent> {
    const after = await countsAt(this.url);
    const kinds = grown(this.before.kinds, after.kinds).filter(({ name }) => !OF_TRANSACTIONS.test(name));
    const crossing = after.crossing - this.before.crossing;
    const scattered = grown(this.before.statements, after.statements)
      .filter(({ executions, routes }) => routes > executions)
      .map(({ name, ...count }) => ({ sql: name, ...count }));
    this.before = after;
    return {
      executions: kinds.reduce((sum, { executions }) => sum + executions, 0),
      surplus: kinds.reduce((sum, { executions, routes }) => sum + Math.max(0, routes - executions), 0),
      scattered,
      crossing,
    };
  }
}

function grown(
  before: ReadonlyMap<string, Count>,
  after: ReadonlyMap<string, Count>,
): (Count & { name: string })[] {
  return [...after].map(([name, { executions, routes }]) => {
    const earlier = before.get(name) ?? NONE;
    return { name, executions: executions - earlier.executions, routes: routes - earlier.routes };
  });
}

async function countsAt(url: string): Promise<Counts> {
  const [plans, vars] = await Promise.all([
    fetched<Record<string, { ExecCount?: number; ShardQueries?: number }>>(`${url}/query_plans`),
    fetched<Record<string, Record<string, number> | undefined>>(`${url}/vars`),
  ]);
  const { QueryExecutions: executions = {}, QueryRoutes: routes = {}, TransactionsProcessed = {} } = vars;
  const crossing = Object.entries(TransactionsProcessed).filter(([name]) => name.startsWith('Cross'));
  return {
    kinds: new Map(
      Object.entries(executions).map(([name, count]) => [
        name,
        { executions: count, routes: routes[name] ?? 0 },
      ]),
    ),
    statements: new Map(
      Object.entries(plans).map(([sql, { ExecCount = 0, ShardQueries = 0 }]) => [
        sql,
        { executions: ExecCount, routes: ShardQueries },
      ]),
    ),
    crossing: crossing.reduce((sum, [, count]) => sum + count, 0),
  };
}

async function fetched<Body>(url: string): Promise<Body> {
  const { body } = await request(url);
  return (await body.json()) as Body;
}
