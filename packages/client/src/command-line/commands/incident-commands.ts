import {
  pagesOf,
  ServiceError,
  type InstanceResponse,
  type InstanceRetry,
  type ListedIncident,
  type ListProcessIncidentsData,
  type SvcClient,
} from '../../index.js';
import type { JsonObject } from '#engine/json';
import { processData } from '../process-data.js';
import { UsageError, type Session } from '../session.js';
import { withoutUndefined } from '../../../../../src/platform/without-undefined.js';
import { table } from '../lines.js';

/** States of incidents, as in the incident inbox. */
export const INCIDENT_STATES = ['OPEN', 'RESOLVED', 'RETRIED'] as const;

/** Maximum number of incidents per response (docs/contract.md, section 7.3). */
const PAGE = 200;

/** Options of `svc incidents`. */
export interface IncidentsOptions {
  app?: string;
  build?: string;
  process?: string;
  element?: string;
  code?: string;
  state: (typeof INCIDENT_STATES)[number];
  from?: string;
  to?: string;
  limit: number;
  counts?: true;
}

type Filters = NonNullable<ListProcessIncidentsData['query']>;

/** Lists incidents of all instances, newest first; with --counts, the number of open ones by place. */
export async function incidents(session: Session, options: IncidentsOptions): Promise<number> {
  const svc = await session.service();
  return options.counts === true ? count(session, svc, options) : list(session, svc, options);
}

async function list(session: Session, svc: SvcClient, options: IncidentsOptions): Promise<number> {
  const found: ListedIncident[] = [];
  let hasMore = false;
  const filters = { ...filtersOf(options), state: options.state };
  for await (const page of pagesOf((cursor) => {
    const limit = Math.min(PAGE, options.limit - found.length);
    return svc.listProcessIncidents({ query: { ...filters, limit, ...cursor } });
  })) {
    found.push(...page.incidents);
    hasMore = page.next !== null;
    if (found.length >= options.limit) {
      break;
    }
  }
  const columns = {
    INSTANCE: 'processInstanceUuid',
    ...PLACE,
    RAISED: 'raisedAt',
    MESSAGE: messageOf,
  } as const;
  session.showList(found, () => table(found, columns), 'No matching incidents.');
  if (hasMore) {
    session.note('There are more, older ones. Set --limit to show more.');
  }
  return 0;
}

/** Columns that locate incidents. */
const PLACE = {
  APPLICATION: 'applicationId',
  PROCESS: 'processDefinitionName',
  ELEMENT: 'bpmnElementId',
  INCIDENT: 'code',
} as const;

function messageOf({ message, workflowError }: ListedIncident): string {
  if (workflowError === null) {
    return message;
  }
  const node = workflowError.node === null ? '' : `${workflowError.node}: `;
  return `${message} (${node}${workflowError.details ?? workflowError.message})`;
}

/**
 * Returns messages of the failed workflows of an instance from the incident inbox, which has more detail, by incident id.
 * @returns an empty map for callers who may not read the inbox
 */
export async function workflowMessages(
  svc: SvcClient,
  { incidents: open, buildId, processDefinitionName }: InstanceResponse,
): Promise<Map<string, string>> {
  const stopped = open.filter(({ type }) => type === 'WORKFLOW');
  const places = new Set(stopped.map(({ bpmnElementId }) => bpmnElementId));
  const messages = new Map<string, string>();
  for (const bpmnElementId of places) {
    const place = { buildId, processDefinitionName, ...(bpmnElementId === null ? {} : { bpmnElementId }) };
    try {
      const { data } = await svc.listProcessIncidents({ query: { ...place, state: 'OPEN', limit: PAGE } });
      data.incidents.forEach((incident) => messages.set(incident.uuid, messageOf(incident)));
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        throw error;
      }
    }
  }
  return messages;
}

async function count(session: Session, svc: SvcClient, options: IncidentsOptions): Promise<number> {
  if (options.state !== 'OPEN') {
    throw new UsageError('--counts applies to open incidents; omit --state.');
  }
  const query = { ...filtersOf(options), limit: Math.min(PAGE, options.limit) };
  const { data } = await svc.countProcessIncidents({ query });
  session.show(data, () => table(data.counts, { OPEN: 'open', ...PLACE }));
  if (!data.complete) {
    session.note('There are more places with fewer incidents. Set --limit to show more.');
  }
  return 0;
}

function filtersOf({ app, build, process, element, code, from, to }: IncidentsOptions): Filters {
  const place = {
    applicationId: app,
    buildId: build,
    processDefinitionName: process,
    bpmnElementId: element,
  };
  return withoutUndefined({ ...place, code: code as ListedIncident['code'] | undefined, from, to });
}

const RETRY_NOTE = 'A workflow that has already made a non-repeatable call continues with its original data.';

/**
 * Retries an instance: one token, or all that have stopped, or the instance itself if it has stopped as a whole.
 * @param options.data JSON merge patch that corrects process data first; stored with the first retried incident
 * @returns 1 when some incidents cannot be retried
 * @throws UsageError when data is given but nothing has stopped; the data is not stored
 */
export async function retry(
  session: Session,
  uuid: string,
  options: { at?: string; data?: string },
): Promise<number> {
  const { at, data } = options;
  const patch = data === undefined ? undefined : await processData(data, session.environment);
  const svc = await session.service();
  const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
  const stopped = at === undefined ? instance.incidents.map(({ tokenUuid }) => tokenUuid) : [at];
  if (patch !== undefined && stopped.length === 0) {
    throw new UsageError('The instance has no incident to retry, so its data was not changed.');
  }
  const answers = await retryTokens(svc, uuid, new Set(stopped), patch);
  const left = answers.flatMap(({ notRetried }) => notRetried ?? []);
  const retriedIncidents = answers.flatMap(({ retriedIncidents }) => retriedIncidents);
  const { state } = answers.at(-1) ?? instance;
  session.show({ uuid, state, retriedIncidents, notRetried: left }, () => [
    `${uuid} ${state}, retried: ${retriedIncidents.length}, not retried: ${left.length}`,
    retriedIncidents.length + left.length === 0
      ? 'The instance has no incident to retry.'
      : `A repeated failure raises a new incident. Check with: svc show ${uuid}`,
    ...(patch === undefined ? [] : [RETRY_NOTE]),
  ]);
  return left.length === 0 ? 0 : 1;
}

async function retryTokens(
  svc: SvcClient,
  uuid: string,
  tokens: ReadonlySet<string | null>,
  patch: JsonObject | undefined,
): Promise<InstanceRetry[]> {
  const answers: InstanceRetry[] = [];
  for (const tokenUuid of tokens) {
    // Apply the patch only once: the process may have changed the data since.
    const isStored = answers.some(({ retriedIncidents }) => retriedIncidents.length > 0);
    const body = patch === undefined || isStored ? {} : { body: { data: patch } };
    const answer =
      tokenUuid === null
        ? await svc.retryProcessInstance({ path: { uuid }, ...body })
        : await svc.retryToken({ path: { uuid, tokenUuid }, ...body });
    answers.push(answer.data);
  }
  return answers;
}
