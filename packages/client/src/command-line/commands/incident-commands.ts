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
import { given } from '../../../../../src/platform/given.js';
import { table } from '../lines.js';

/** States of incidents, as the inbox takes them. */
export const INCIDENT_STATES = ['OPEN', 'RESOLVED', 'RETRIED'] as const;

/** Most incidents in one answer (docs/contract.md, section 7.3). */
const PAGE = 200;

/** Which incidents, and how many of them. */
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

/** Lists incidents of all instances, newest first; with --counts, how many are open at which place. */
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
  session.showList(found, () => table(found, columns), 'There is no such incident.');
  if (hasMore) {
    session.tell('There are more, older ones: --limit says how many are shown.');
  }
  return 0;
}

/** Columns of whatever tells where incidents are. */
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
 * What the incident inbox says of the failed workflows of an instance, by the ids of their incidents: more than the instance does.
 * @returns nothing for callers who may not read the inbox
 */
export async function workflowMessages(
  svc: SvcClient,
  { incidents: open, buildId, processDefinitionName }: InstanceResponse,
): Promise<Map<string, string>> {
  const stopped = open.filter(({ type }) => type === 'WORKFLOW');
  const places = new Set(stopped.map(({ bpmnElementId }) => bpmnElementId));
  const told = new Map<string, string>();
  for (const bpmnElementId of places) {
    const place = { buildId, processDefinitionName, ...(bpmnElementId === null ? {} : { bpmnElementId }) };
    try {
      const { data } = await svc.listProcessIncidents({ query: { ...place, state: 'OPEN', limit: PAGE } });
      data.incidents.forEach((incident) => told.set(incident.uuid, messageOf(incident)));
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        throw error;
      }
    }
  }
  return told;
}

async function count(session: Session, svc: SvcClient, options: IncidentsOptions): Promise<number> {
  if (options.state !== 'OPEN') {
    throw new UsageError('--counts is of open incidents: leave --state out.');
  }
  const query = { ...filtersOf(options), limit: Math.min(PAGE, options.limit) };
  const { data } = await svc.countProcessIncidents({ query });
  session.show(data, () => table(data.counts, { OPEN: 'open', ...PLACE }));
  if (!data.complete) {
    session.tell('There are more places with fewer: --limit says how many are shown.');
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
  return given({ ...place, code: code as ListedIncident['code'] | undefined, from, to });
}

const GOES_ON =
  'A workflow that has made a call which must not be made twice goes on with the data of its beginning.';

/**
 * Goes on where an instance stopped: at one token, or at all that have stopped, and as a whole where it is that.
 * @param options.data corrects process data first: a JSON merge patch, stored with the first incident that is retried
 * @returns 1 when some of it cannot go on
 * @throws UsageError when nothing stopped and there are data, which then are not stored
 */
export async function retry(
  session: Session,
  uuid: string,
  options: { at?: string; data?: string },
): Promise<number> {
  const { at, data } = options;
  const patch = data === undefined ? undefined : await processData(data, session.surroundings);
  const svc = await session.service();
  const { data: instance } = await svc.getProcessInstance({ path: { uuid } });
  const stopped = at === undefined ? instance.incidents.map(({ tokenUuid }) => tokenUuid) : [at];
  if (patch !== undefined && stopped.length === 0) {
    throw new UsageError('Nothing has stopped here, so the data were not changed.');
  }
  const answers = await retried(svc, uuid, new Set(stopped), patch);
  const left = answers.flatMap(({ notRetried }) => notRetried ?? []);
  const gone = answers.flatMap(({ retriedIncidents }) => retriedIncidents);
  const { state } = answers.at(-1) ?? instance;
  session.show({ uuid, state, retriedIncidents: gone, notRetried: left }, () => [
    `${uuid} ${state}, retried: ${gone.length}, not retried: ${left.length}`,
    gone.length + left.length === 0
      ? 'Nothing has stopped here.'
      : `What fails again becomes a new incident: look with svc show ${uuid}`,
    ...(patch === undefined ? [] : [GOES_ON]),
  ]);
  return left.length === 0 ? 0 : 1;
}

async function retried(
  svc: SvcClient,
  uuid: string,
  tokens: ReadonlySet<string | null>,
  patch: JsonObject | undefined,
): Promise<InstanceRetry[]> {
  const answers: InstanceRetry[] = [];
  for (const tokenUuid of tokens) {
    // What was corrected once may have been changed by the process since.
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
