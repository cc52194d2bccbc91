import { checkInvariants } from '../../support/runtime/invariants.js';
import { prove } from './proof.js';
import type { StoredInstance } from './process-rows.js';

const LIVE_STATES: ReadonlySet<string> = new Set(['ACTIVE', 'ON_HOLD', 'INACTIVE']);
/** Work that ended instances leave for others. */
const FAREWELLS: ReadonlySet<string> = new Set([
  'APPEND_TO_PARENT',
  'END_CHILDREN',
  'NOTIFY_PARENT',
  'PUBLISH_MESSAGE',
]);
const RUNNING: ReadonlySet<string> = new Set(['STARTED', 'ONHOLD']);

/**
 * What must hold of the rows of an instance between two steps: the invariants of the engine, and that rows which nobody needs
 * any more are marked so or gone.
 * @throws Error that names the first thing that does not hold
 */
export function checkRows(stored: StoredInstance): void {
  const { row, state, tokens, jobs } = stored;
  checkInvariants(stored, stored);
  for (const token of tokens.values()) {
    const live = state.tokens.has(token.id);
    prove(
      live ? LIVE_STATES.has(token.state) : token.state !== 'ACTIVE' && token.state !== 'ON_HOLD',
      `token ${token.uuid} is ${token.state} and ${live ? '' : 'not '}live`,
    );
  }
  prove(
    RUNNING.has(row.state) === (row.endedAt === null),
    `instance ${row.uuid} is ${row.state} and ${row.endedAt === null ? 'has not' : 'has'} ended`,
  );
  prove(row.openIncidents === 0, `instance ${row.uuid} has ${row.openIncidents} incidents`);
  prove(
    RUNNING.has(row.state) || jobs.every(({ job }) => FAREWELLS.has(job.kind)),
    `instance ${row.uuid} is ${row.state} and has the jobs ${jobs.map(({ job }) => job.kind).join(', ')}`,
  );
}

/** How often tokens have entered a node. */
export function entries({ events, definition }: StoredInstance, key: string): number {
  return events.filter(({ kind, node }) => kind === 'NODE_ENTERED' && definition.node(node ?? -1).key === key)
    .length;
}

/** How many events of a kind an instance has. */
export function count({ events }: StoredInstance, kind: string): number {
  return events.filter((event) => event.kind === kind).length;
}
