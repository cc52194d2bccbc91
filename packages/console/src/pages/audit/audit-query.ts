import type {
  ApplicationAuditPage,
  AuditAction,
  AuditOutcome,
  ListApplicationAuditEventsData,
} from '../../../../client/src/index.js';
import { api } from '../../app/session.js';

/** All actions. As a record, so the compiler reports missing ones. */
const ACTION_NAMES: Readonly<Record<AuditAction, true>> = {
  'system.create': true,
  'system.update': true,
  'system.delete': true,
  'connection.test': true,
  'tools.sync': true,
  'tool.switch': true,
  'tool.call-begin': true,
  'tool.call': true,
  'endpoint.use': true,
  'package.store': true,
  'workflow-node.create': true,
  'workflow-node.update': true,
  'workflow-node.delete': true,
  'version.commit': true,
  'build.create': true,
  'build.activate': true,
  'build.withdraw': true,
  'workflow.test': true,
  'library.use': true,
  'process.hold': true,
  'process.release': true,
  'process.terminate': true,
  'process.retry': true,
};
const OUTCOME_NAMES: Readonly<Record<AuditOutcome, true>> = {
  ok: true,
  denied: true,
  error: true,
  timeout: true,
};

/** Actions of events. */
export const ACTIONS = Object.keys(ACTION_NAMES) as readonly AuditAction[];
/** Outcomes of events. */
export const OUTCOMES = Object.keys(OUTCOME_NAMES) as readonly AuditOutcome[];

/** Filters of the audit page, as in its query; empty if not set. */
export interface AuditFilters {
  appId: string;
  versionId: string;
  action: string;
  outcome: string;
  actor: string;
  /** Local time, as in a `datetime-local` field. */
  from: string;
  to: string;
}

type Query = NonNullable<ListApplicationAuditEventsData['query']>;

/** Reads the filters from a query. */
export function filtersOf(query: URLSearchParams): AuditFilters {
  const of = (name: string): string => query.get(name) ?? '';
  return {
    appId: of('app'),
    versionId: of('version'),
    action: of('action'),
    outcome: of('outcome'),
    actor: of('actor'),
    from: of('from'),
    to: of('to'),
  };
}

/** Loads a page of events that match the filters. */
export async function eventsOf(
  filters: AuditFilters,
  { before, limit, signal }: { before: string | undefined; limit?: number; signal: AbortSignal },
): Promise<ApplicationAuditPage> {
  const query: Query = {
    ...queryOf(filters),
    ...(before === undefined ? {} : { before }),
    ...(limit === undefined ? {} : { limit }),
  };
  const { data } = await api().listApplicationAuditEvents({ path: { appId: filters.appId }, query, signal });
  return data;
}

function queryOf({ versionId, action, outcome, actor, from, to }: AuditFilters): Query {
  const all = {
    applicationVersionId: versionId,
    action: ACTIONS.find((one) => one === action) ?? '',
    outcome: OUTCOMES.find((one) => one === outcome) ?? '',
    actor: actor.trim(),
    from: momentOf(from),
    to: momentOf(to),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

function momentOf(local: string): string {
  const at = new Date(local);
  return local === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
