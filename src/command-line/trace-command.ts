import type {
  HistoryEvent,
  SvcClient,
  WorkflowCall,
  WorkflowRunDetails,
} from '../../clients/typescript/src/index.js';
import type { Session } from './session.js';
import { table } from './table.js';

/** A run with the calls of its agents and REST nodes. */
interface TracedRun extends WorkflowRunDetails {
  calls: WorkflowCall[];
}

/** Shows what an instance did: its history, and each run of a workflow that it started, with nodes and calls. */
export async function trace(session: Session, uuid: string): Promise<number> {
  const svc = await session.service();
  const events = await historyOf(svc, uuid);
  const runs = await runsOf(session, svc, uuid);
  session.show({ events, runs }, () => [
    ...table(
      ['SEQ', 'TIME', 'EVENT', 'NODE', 'ACTOR'],
      events.map(({ seq, timestamp, kind, nodeName, actor }) => [seq, timestamp, kind, nodeName, actor]),
    ),
    ...runs.flatMap((run) => ['', ...runLines(run)]),
  ]);
  return 0;
}

async function historyOf(svc: SvcClient, uuid: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  for (let before: number | null | undefined; before !== null;) {
    const query = before === undefined ? {} : { before };
    const { data } = await svc.getProcessInstanceHistory({ path: { uuid }, query });
    events.push(...data.events);
    before = data.next;
  }
  return events.toSorted((one, other) => one.seq - other.seq);
}

async function runsOf(session: Session, svc: SvcClient, processInstanceUuid: string): Promise<TracedRun[]> {
  const runs: TracedRun[] = [];
  for (let before: string | null | undefined; before !== null;) {
    const query = { processInstanceUuid, ...(before === undefined ? {} : { before }) };
    const { data } = await svc.listWorkflowRuns({ query });
    for (const { id, workflow } of data.runs) {
      session.tell(`reading the run ${id} of ${workflow} …`);
      const path = { workflowRunId: id };
      const { data: details } = await svc.getWorkflowRun({ path });
      const { data: page } = await svc.listWorkflowRunCalls({ path });
      runs.push({ ...details, calls: page.calls });
    }
    before = data.next;
  }
  return runs.toReversed();
}

function runLines({ id, workflow, state, errorCode, nodes, calls }: TracedRun): string[] {
  return [
    `run ${id} of ${workflow}: ${state}${errorCode === null ? '' : ` ${errorCode}`}`,
    ...table(
      ['NODE', 'TYPE', 'STATE', 'MS', 'ERROR'],
      nodes.map((node) => [
        node.name,
        node.type,
        node.state,
        Date.parse(node.finishedAt) - Date.parse(node.startedAt),
        node.error?.message,
      ]),
    ),
    ...(calls.length === 0
      ? []
      : table(
          ['CALL', 'KIND', 'STATE', 'TRIES', 'MS', 'OUTCOME'],
          calls.map((call) => [call.key, call.kind, call.state, call.tries, call.durationMs, call.outcome]),
        )),
  ];
}
