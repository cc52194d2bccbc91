import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { InstanceChild, InstanceResponse, WorkflowRun } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { usePages, type Pages } from '../../live/use-pages.js';
import { State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Duration, Moment } from '../../parts/facts.js';
import { Empty } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const t = texts.instances;
const PAGE_SIZE = 50;

const CHILDREN: readonly Column<InstanceChild>[] = [
  {
    title: t.process,
    cell: ({ uuid, processDefinitionName }) => <Link to={`/instances/${uuid}`}>{processDefinitionName}</Link>,
  },
  { title: t.state, cell: ({ state }) => <State of={state} />, isTight: true },
  { title: t.index, cell: ({ index }) => index + 1, isNumber: true },
];

const RUNS: readonly Column<WorkflowRun>[] = [
  { title: t.workflow, cell: ({ id, workflow }) => <Link to={`/agent-runs/${id}`}>{workflow}</Link> },
  { title: t.state, cell: ({ state }) => <State of={state} />, isTight: true },
  { title: t.message, cell: ({ error }) => error?.message ?? '–', isExtra: true, isText: true },
  {
    title: t.duration,
    cell: ({ startedAt, finishedAt }) => (
      <Duration ms={finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt)} />
    ),
    isTight: true,
  },
  { title: t.started, cell: ({ startedAt }) => <Moment at={startedAt} />, isTight: true, isExtra: true },
];

/** Caller of an instance, and the processes and workflows it called. */
export function Calls({
  instance,
  runs,
}: {
  instance: InstanceResponse;
  runs: Pages<WorkflowRun>;
}): JSX.Element {
  const { uuid, parentProcessInstanceUuid: parent, parentApplicationId, children = [] } = instance;
  return (
    <>
      {parent !== null && (
        <Section title={t.caller}>
          <p>
            <Link to={`/instances/${parent}`}>{parent}</Link> {parentApplicationId}
          </p>
        </Section>
      )}
      <Section
        title={t.called}
        isFlush
        actions={<Link to={`/instances?parentProcessInstanceUuid=${uuid}`}>{t.allCalled}</Link>}
      >
        <Table
          caption={t.called}
          columns={CHILDREN}
          rows={children}
          keyOf={(child) => child.uuid}
          empty={<Empty title={t.noCalled} />}
        />
      </Section>
      {may('process-read', instance.applicationId) && (
        <Section title={t.runs} isFlush>
          <PagedTable caption={t.runs} columns={RUNS} pages={runs} keyOf={({ id }) => id} none={t.noRuns} />
        </Section>
      )}
    </>
  );
}

/** Loads the workflow runs of an instance, again after each step. Empty if the user may not read them. */
export function useRuns({ uuid, applicationId, dateUpdated }: InstanceResponse): Pages<WorkflowRun> {
  const pages = usePages<WorkflowRun>(
    async (before, signal) => {
      if (!may('process-read', applicationId)) {
        return { items: [], next: null };
      }
      const { data } = await api().listWorkflowRuns({
        query: { processInstanceUuid: uuid, limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) },
        signal,
      });
      return { items: data.runs, next: data.next };
    },
    [uuid],
  );
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      pages.reload();
    }
    isFirst.current = false;
  }, [dateUpdated]);
  return pages;
}
