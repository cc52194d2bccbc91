import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { IncidentState, IncidentType, ListedIncident } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { queryTimes, queryValues } from '../../app/query.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { choicesOf, Filters, type Filter } from '../../parts/filters.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { BulkBar } from './bulk-bar.js';

const t = texts.instances;
const PAGE_SIZE = 50;
const STATES: readonly IncidentState[] = ['OPEN', 'RESOLVED', 'RETRIED'];
const CODES: readonly IncidentType[] = [
  'CONDITION_EVALUATION',
  'GATEWAY_EVALUATION',
  'JOIN_NEVER_COMPLETED',
  'NODE',
  'ENGINE',
  'DEFINITION',
  'SUBPROCESS',
  'WORKFLOW',
];

const FILTERS: readonly Filter[] = [
  { name: 'applicationId', label: t.application },
  { name: 'processDefinitionName', label: t.process },
  { name: 'bpmnElementId', label: t.element },
  { name: 'code', label: t.code, choices: choicesOf(CODES) },
  { name: 'state', label: t.state, choices: choicesOf(STATES) },
  { name: 'from', label: t.raisedFrom, type: 'datetime-local' },
  { name: 'to', label: t.raisedTo, type: 'datetime-local' },
];

const COLUMNS: readonly Column<ListedIncident>[] = [
  {
    title: t.process,
    cell: ({ processInstanceUuid, processDefinitionName, applicationId }) => (
      <>
        <Link to={`/instances/${processInstanceUuid}`}>{processDefinitionName}</Link>
        <span class="quiet below">{applicationId}</span>
      </>
    ),
  },
  { title: t.element, cell: ({ bpmnElementId }) => bpmnElementId ?? '–', isExtra: true },
  {
    title: t.code,
    cell: ({ code }) => code.toLowerCase().replaceAll('_', ' '),
  },
  { title: t.state, cell: ({ state }) => <State of={state} />, isTight: true },
  {
    title: t.message,
    cell: ({ message, workflowError }) => <Why message={message} error={workflowError} />,
    isText: true,
  },
  {
    title: t.run,
    cell: ({ workflowRunId }) =>
      workflowRunId === null ? '–' : <Link to={`/agent-runs/${workflowRunId}`}>{t.openRun}</Link>,
    isTight: true,
  },
  { title: t.raised, cell: ({ raisedAt }) => <Moment at={raisedAt} />, isTight: true, isExtra: true },
];

function Why({ message, error }: { message: string; error: ListedIncident['workflowError'] }): JSX.Element {
  return (
    <>
      {message}
      {error !== null && !message.includes(error.message) && (
        <p class="quiet">
          {error.code}: {error.message}
        </p>
      )}
    </>
  );
}

/** List of incidents, with bulk operations. */
export function Page({ query }: PageProps): JSX.Element {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const pages = usePages<ListedIncident>(
    async (before, signal) => {
      const filters = {
        ...queryValues(query, ['applicationId', 'processDefinitionName', 'bpmnElementId']),
        ...(queryValues(query, ['code', 'state']) as { code?: IncidentType; state?: IncidentState }),
        ...queryTimes(query),
      };
      const { data } = await api().listProcessIncidents({
        query: { ...filters, limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) },
        signal,
      });
      return { items: data.incidents, next: data.next };
    },
    [query.toString()],
  );
  const chosen = pages.items
    .filter(({ uuid }) => keys.has(uuid))
    .map(({ processInstanceUuid }) => processInstanceUuid);
  return (
    <>
      <PageHead
        title={t.incidentsTitle}
        lead={t.incidentsLead}
        crumbs={[{ title: t.title, to: '/instances' }]}
      />
      <Section title={t.search}>
        <Filters filters={FILTERS} query={query} />
      </Section>
      <Section title={t.incidentsTitle} isFlush>
        {chosen.length > 0 && <BulkBar uuids={[...new Set(chosen)]} onEnd={pages.reload} />}
        <PagedTable
          caption={t.incidentsTitle}
          columns={COLUMNS}
          pages={pages}
          keyOf={({ uuid }) => uuid}
          selection={may('process-administration') ? { keys, change: setKeys } : undefined}
          none={t.noIncidents}
        />
      </Section>
    </>
  );
}
