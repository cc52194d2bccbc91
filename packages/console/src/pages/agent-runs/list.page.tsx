import type { JSX } from 'preact';
import type { WorkflowRun, WorkflowRunState } from '../../../../client/src/index.js';
import { queryTimes, queryValues } from '../../app/query.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { State } from '../../parts/badge.js';
import { Button, Link } from '../../parts/button.js';
import { Duration, Moment } from '../../parts/facts.js';
import { choicesOf, Filters, type Filter } from '../../parts/filters.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

const t = texts.agentRuns;
const PAGE_SIZE = 50;
const STATES: readonly WorkflowRunState[] = ['STARTED', 'FINISHED', 'FAILED', 'CANCELLED'];

const FILTERS: readonly Filter[] = [
  { name: 'workflow', label: t.workflow },
  { name: 'state', label: t.state, choices: choicesOf(STATES) },
  { name: 'processInstanceUuid', label: t.instanceUuid },
  { name: 'from', label: t.startedFrom, type: 'datetime-local' },
  { name: 'to', label: t.startedTo, type: 'datetime-local' },
];

const COLUMNS: readonly Column<WorkflowRun>[] = [
  { title: t.workflow, cell: ({ id, workflow }) => <Link to={`/agent-runs/${id}`}>{workflow}</Link> },
  { title: t.state, cell: ({ state }) => <State of={state} />, isTight: true },
  {
    title: t.reason,
    cell: ({ error, errorCode }) => error?.message ?? errorCode ?? '–',
    isExtra: true,
    isText: true,
  },
  {
    title: t.startedBy,
    cell: ({ processInstanceUuid, parentRunId }) => (
      <Origin instance={processInstanceUuid} parent={parentRunId} />
    ),
    isExtra: true,
  },
  { title: t.started, cell: ({ startedAt }) => <Moment at={startedAt} />, isTight: true },
  {
    title: t.duration,
    cell: ({ startedAt, finishedAt }) => (
      <Duration ms={finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt)} />
    ),
    isTight: true,
    isExtra: true,
  },
];

function Origin({ instance, parent }: { instance: string | null; parent: string | null }): JSX.Element {
  if (parent !== null) {
    return <Link to={`/agent-runs/${parent}`}>{t.anotherRun}</Link>;
  }
  return instance === null ? (
    <span class="quiet">{t.test}</span>
  ) : (
    <Link to={`/instances/${instance}`}>{t.instance}</Link>
  );
}

/** Workflow runs, newest first. */
export function Page({ query }: PageProps): JSX.Element {
  const pages = usePages<WorkflowRun>(
    async (before, signal) => {
      const filters = {
        ...queryValues(query, ['workflow', 'processInstanceUuid', 'parentRunId']),
        ...(queryValues(query, ['state']) as { state?: WorkflowRunState }),
        ...queryTimes(query),
      };
      const { data } = await api().listWorkflowRuns({
        query: { ...filters, limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) },
        signal,
      });
      return { items: data.runs, next: data.next };
    },
    [query.toString()],
  );
  return (
    <>
      <PageHead title={t.title} lead={t.lead} />
      <Section title={t.search}>
        <Filters filters={FILTERS} query={query} />
      </Section>
      <Section
        title={t.title}
        isFlush
        actions={<Button onClick={pages.reload}>{texts.parts.refresh}</Button>}
      >
        <PagedTable caption={t.title} columns={COLUMNS} pages={pages} keyOf={({ id }) => id} none={t.none} />
      </Section>
    </>
  );
}
