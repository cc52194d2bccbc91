import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { InstanceSummary, ProcessInstanceState } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { queryTimes, queryValues } from '../../app/query.js';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { usePages, type Pages } from '../../live/use-pages.js';
import { Badge, State } from '../../parts/badge.js';
import { Button, Link } from '../../parts/button.js';
import { Duration, Moment } from '../../parts/facts.js';
import { TextField } from '../../parts/fields.js';
import { choicesOf, Filters, type Filter } from '../../parts/filters.js';
import { Note } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { BulkBar } from './bulk-bar.js';
import { ByData } from './by-data.js';
import { searchData, searchedData, type DataTerm } from './data-search.js';
import { personOf } from './person.js';

const t = texts.instances;
const PAGE_SIZE = 50;
const STATES: readonly ProcessInstanceState[] = [
  'CREATED',
  'STARTED',
  'ONHOLD',
  'FINISHED',
  'FAILED',
  'EXPIRED',
  'TERMINATED',
  'ABORTED',
  'DISMISSED',
];

const FILTERS: readonly Filter[] = [
  { name: 'applicationId', label: t.application },
  { name: 'processDefinitionName', label: t.process },
  { name: 'state', label: t.state, choices: choicesOf(STATES) },
  {
    name: 'hasIncidents',
    label: t.incidents,
    choices: [
      { value: 'true', title: t.withIncidents },
      { value: 'false', title: t.withoutIncidents },
    ],
  },
  { name: 'parentProcessInstanceUuid', label: t.calledBy },
  { name: 'from', label: t.startedFrom, type: 'datetime-local' },
  { name: 'to', label: t.startedTo, type: 'datetime-local' },
];

const COLUMNS: readonly Column<InstanceSummary>[] = [
  {
    title: t.process,
    cell: ({ uuid, processDefinitionName }) => (
      <>
        <Link to={`/instances/${uuid}`}>{processDefinitionName}</Link>
        <code class="quiet below">{uuid}</code>
      </>
    ),
  },
  {
    title: t.state,
    cell: ({ state, openIncidents }) => (
      <>
        <State of={state} /> {openIncidents > 0 && <Badge tone="bad">{t.stoppedHere(openIncidents)}</Badge>}
      </>
    ),
  },
  { title: t.application, cell: ({ applicationId }) => applicationId, isExtra: true },
  { title: t.startedBy, cell: ({ startedBy }) => personOf(startedBy), isExtra: true },
  { title: t.started, cell: ({ startedAt }) => <Moment at={startedAt} />, isTight: true },
  {
    title: t.duration,
    cell: ({ startedAt, endedAt }) => (
      <Duration ms={endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt)} />
    ),
    isTight: true,
    isExtra: true,
  },
];

/** List of instances, newest first, with bulk operations. */
export function Page({ query }: PageProps): JSX.Element {
  const terms = searchedData();
  const key = query.toString() + JSON.stringify(terms);
  const pages = usePages<InstanceSummary>(
    async (before, signal) => {
      const filters = {
        ...queryValues(query, ['applicationId', 'processDefinitionName', 'parentProcessInstanceUuid']),
        ...(queryValues(query, ['state']) as { state?: ProcessInstanceState }),
        ...(query.get('hasIncidents') === null ? {} : { hasIncidents: query.get('hasIncidents') === 'true' }),
        ...(terms.length === 0 ? {} : { data: terms.map(({ path, value }) => `${path}:${value}`) }),
        ...queryTimes(query),
      };
      const { data } = await api().listProcessInstances({
        query: { ...filters, limit: PAGE_SIZE, ...(before === undefined ? {} : { before }) },
        signal,
      });
      return { items: data.instances, next: data.next };
    },
    [key],
  );
  return (
    <>
      <PageHead
        title={t.title}
        lead={t.lead}
        actions={may('process-read') && <Link to="/instances/incidents">{t.incidentsTitle}</Link>}
      />
      {!may('process-read') && (
        <Note>
          <p>{t.onlyYours}</p>
        </Note>
      )}
      <Section title={t.search}>
        <ByUuid />
        <Search query={query} searched={terms} />
      </Section>
      <Found pages={pages} />
    </>
  );
}

const NO_TERM: readonly DataTerm[] = [{ path: '', value: '' }];

/** Search by filters and data. A new search replaces the previous one. */
function Search({ query, searched }: { query: URLSearchParams; searched: readonly DataTerm[] }): JSX.Element {
  const [terms, setTerms] = useState(searched.length === 0 ? NO_TERM : searched);
  const complete = terms
    .map(({ path, value }) => ({ path: path.trim(), value }))
    .filter(({ path, value }) => path !== '' && value !== '');
  return (
    <Filters
      filters={FILTERS}
      query={query}
      onSearch={() => searchData(complete)}
      onClear={() => {
        setTerms(NO_TERM);
        searchData([]);
      }}
      more={({ applicationId = '', processDefinitionName = '' }) => (
        <ByData
          terms={terms}
          change={setTerms}
          appId={applicationId.trim()}
          processName={processDefinitionName.trim()}
        />
      )}
    />
  );
}

function Found({ pages }: { pages: Pages<InstanceSummary> }): JSX.Element {
  const { items: rows, reload } = pages;
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  // Rows that left the list are no longer selected.
  const chosen = rows.filter(({ uuid }) => keys.has(uuid)).map(({ uuid }) => uuid);
  useEffect(() => {
    if (rows.length === 0) {
      setKeys(new Set());
    }
  }, [rows.length === 0]);
  return (
    <Section title={t.title} isFlush actions={<Button onClick={reload}>{texts.parts.refresh}</Button>}>
      {chosen.length > 0 && <BulkBar uuids={chosen} onEnd={reload} />}
      <PagedTable
        caption={t.title}
        columns={COLUMNS}
        pages={pages}
        keyOf={({ uuid }) => uuid}
        selection={may('process-administration') ? { keys, change: setKeys } : undefined}
        none={t.none}
      />
    </Section>
  );
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Opens an instance by UUID. */
function ByUuid(): JSX.Element {
  const [uuid, setUuid] = useState('');
  const isUuid = UUID.test(uuid.trim());
  return (
    <form
      class="one-line"
      onSubmit={(event) => {
        event.preventDefault();
        if (isUuid) {
          navigate(`/instances/${uuid.trim()}`);
        }
      }}
    >
      <TextField
        label={t.byUuid}
        value={uuid}
        onChange={setUuid}
        error={uuid === '' || isUuid ? undefined : t.notAUuid}
      />
      <Button type="submit" disabled={!isUuid}>
        {t.open}
      </Button>
    </form>
  );
}
