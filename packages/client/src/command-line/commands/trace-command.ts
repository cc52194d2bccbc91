import {
  pagesOf,
  type HistoryEvent,
  type SvcClient,
  type WorkflowCall,
  type WorkflowNodeRun,
  type WorkflowRunDetails,
} from '../../index.js';
import { isJsonObject, type JsonObject } from '#engine/json';
import { eventText, nodeOf, table } from '../lines.js';
import type { Session } from '../session.js';
import { printable } from '../../../../../src/platform/printable.js';

/** Maximum length of a request in a line; `--json` shows all of it. */
const WHAT_LENGTH = 100;

interface TracedRun extends WorkflowRunDetails {
  calls: WorkflowCall[];
}

/** Shows the history of an instance, and the workflow runs that it started with their nodes and calls. */
export async function trace(session: Session, uuid: string): Promise<number> {
  const svc = await session.service();
  const events = await historyOf(svc, uuid);
  const runs = await runsOf(session, svc, uuid);
  session.show({ events, runs }, () => [
    ...table(events, { SEQ: 'seq', TIME: 'timestamp', EVENT: eventText, NODE: nodeOf, ACTOR: 'actor' }),
    ...events.filter(({ kind }) => kind === 'DATA_CHANGED').map(correctionLine),
    ...runs.flatMap((run) => ['', ...runLines(run)]),
  ]);
  return 0;
}

async function historyOf(svc: SvcClient, uuid: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  const path = { uuid };
  for await (const page of pagesOf((cursor: { before?: number }) =>
    svc.getProcessInstanceHistory({ path, query: cursor }),
  )) {
    events.push(...page.events);
  }
  return events.toSorted((one, other) => one.seq - other.seq);
}

async function runsOf(session: Session, svc: SvcClient, processInstanceUuid: string): Promise<TracedRun[]> {
  const runs: TracedRun[] = [];
  const pages = pagesOf((cursor) => svc.listWorkflowRuns({ query: { processInstanceUuid, ...cursor } }));
  for await (const { runs: listed } of pages) {
    for (const { id, workflow } of listed) {
      session.note(`reading run ${id} of ${workflow} …`);
      const path = { workflowRunId: id };
      const { data: details } = await svc.getWorkflowRun({ path });
      const { data: page } = await svc.listWorkflowRunCalls({ path });
      runs.push({ ...details, calls: page.calls });
    }
  }
  return runs.toReversed();
}

function correctionLine({ seq, data }: HistoryEvent): string {
  const { members, before, after } = data ?? {};
  const changes = (Array.isArray(members) ? members : []).map((member) => {
    const [was, is] = [before, after].map((values) => shortened(valueOf(values, String(member))));
    return isJsonObject(before) ? `${member}: ${was} -> ${is}` : `${member} (values omitted)`;
  });
  return printable(`${seq} corrected ${changes.join(', ')}`);
}

function valueOf(values: unknown, member: string): string {
  return isJsonObject(values) && Object.hasOwn(values, member) ? JSON.stringify(values[member]) : 'absent';
}

function runLines({ id, workflow, state, errorCode, error, nodes, calls }: TracedRun): string[] {
  const code = errorCode ?? error?.code;
  return [
    printable(`run ${id} of ${workflow}: ${state}${code === undefined ? '' : ` ${code}`}`),
    ...table(nodes, {
      NODE: 'name',
      TYPE: 'type',
      STATE: 'state',
      MS: ({ startedAt, finishedAt }) => Date.parse(finishedAt) - Date.parse(startedAt),
      ERROR: failureOf,
    }),
    ...(calls.length === 0 ? [] : table(calls, CALL_COLUMNS)),
  ];
}

const CALL_COLUMNS = {
  CALL: 'key',
  KIND: 'kind',
  STATE: 'state',
  TRIES: 'tries',
  MS: 'durationMs',
  OUTCOME: 'outcome',
  WHAT: whatOf,
} as const;

function failureOf({ error }: WorkflowNodeRun): string | null {
  if (error === null) {
    return null;
  }
  const { message, details } = error;
  return details === null || message.includes(details) ? message : `${message} (${details})`;
}

function whatOf({ kind, request }: WorkflowCall): string | null {
  if (kind === 'MODEL') {
    return null;
  }
  return shortened(isJsonObject(request) ? requestText(request) : JSON.stringify(request));
}

function requestText({ tool, name, arguments: given, method, url }: JsonObject): string {
  const words = [method, url, tool ?? name].filter((word) => typeof word === 'string');
  return [...words, ...(given === undefined ? [] : [JSON.stringify(given)])].join(' ');
}

function shortened(text: string): string {
  return text.length > WHAT_LENGTH ? `${text.slice(0, WHAT_LENGTH)}…` : text;
}
