import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ElementStatistics, ProcessStatistics } from '../../../../client/src/index.js';
import { queryTimes } from '../../app/query.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { Diagram } from '../../diagram/diagram.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button, Link } from '../../parts/button.js';
import { Select } from '../../parts/fields.js';
import { Filters, type Filter } from '../../parts/filters.js';
import { Note, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { absoluteTime } from '../../parts/time.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import {
  byMeasure,
  heatMarks,
  levelsOf,
  levelText,
  MEASURES,
  measureOf,
  valueText,
  type Level,
  type Measure,
} from './heat.js';
import './heat-map.css';

const t = texts.instances;

const FILTERS: readonly Filter[] = [
  { name: 'from', label: t.startedFrom, type: 'datetime-local' },
  { name: 'to', label: t.startedTo, type: 'datetime-local' },
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time ranges to choose from. */
const SPANS = [
  { name: 'hour', ms: HOUR_MS },
  { name: 'day', ms: DAY_MS },
  { name: 'week', ms: 7 * DAY_MS },
  { name: 'month', ms: 30 * DAY_MS },
] as const;
const WEEK = SPANS[2];

/** Returns the range that a query selects; undefined for a custom range. */
function spanOf(query: URLSearchParams): (typeof SPANS)[number] | undefined {
  const { from, to } = queryTimes(query);
  return from === undefined && to === undefined
    ? (SPANS.find(({ name }) => name === query.get('within')) ?? WEEK)
    : undefined;
}

interface Process {
  appId: string;
  buildId: string;
  processDefinitionName: string;
}

/** Heat map of a process as a diagram and as a table. */
export function Page({ params, query }: PageProps): JSX.Element {
  const path: Process = {
    appId: params['appId'] ?? '',
    buildId: params['buildId'] ?? '',
    processDefinitionName: params['process'] ?? '',
  };
  const customRange = queryTimes(query);
  const span = spanOf(query);
  const measure = measureOf(query.get('measure'));
  const statistics = useAnswer(
    async (signal) => {
      const range = span === undefined ? customRange : { from: new Date(Date.now() - span.ms).toISOString() };
      return (await api().getProcessStatistics({ path, query: range, signal })).data;
    },
    [path.appId, path.buildId, path.processDefinitionName, customRange.from, customRange.to, span?.name],
  );
  const listed = { applicationId: path.appId, processDefinitionName: path.processDefinitionName };
  return (
    <>
      <PageHead
        title={t.heat.title(path.processDefinitionName)}
        lead={t.heat.lead(path.appId, path.buildId)}
        crumbs={[{ title: t.title, to: `/instances?${new URLSearchParams(listed).toString()}` }]}
        actions={<Button onClick={statistics.reload}>{texts.parts.refresh}</Button>}
      />
      <Section title={t.search}>
        <div class="heat-choices">
          <Select
            label={t.heat.within}
            value={span?.name ?? ''}
            {...(span === undefined && { empty: t.heat.ownRange })}
            choices={SPANS.map(({ name }) => ({ value: name, title: t.heat.spans[name] }))}
            onChange={(name) => setQuery({ within: name, from: undefined, to: undefined })}
          />
          <Select
            label={t.heat.measure}
            value={measure}
            choices={MEASURES.map((value) => ({ value, title: t.heat.measures[value] }))}
            onChange={(value) => setQuery({ measure: value === 'entered' ? undefined : value })}
          />
        </div>
        <Filters filters={FILTERS} query={query} />
      </Section>
      <Shown answer={statistics}>{(data) => <HeatMap process={path} data={data} measure={measure} />}</Shown>
    </>
  );
}

function HeatMap({
  process,
  data,
  measure,
}: {
  process: Process;
  data: ProcessStatistics;
  measure: Measure;
}): JSX.Element {
  const { elements, instances, complete, from, to } = data;
  const levels = useMemo(() => levelsOf(elements, measure), [elements, measure]);
  const marks = useMemo(() => heatMarks(elements, measure, levels), [elements, measure, levels]);
  const columns = useMemo(() => columnsOf(process), [process.appId, process.processDefinitionName]);
  return (
    <>
      <Section title={t.heat.map}>
        <p class="quiet">
          {t.heat.counted(instances, absoluteTime(new Date(from)), absoluteTime(new Date(to)))}
        </p>
        {!complete && (
          <Note tone="warn">
            <p>{t.heat.notAll(instances)}</p>
          </Note>
        )}
        <Legend levels={levels} measure={measure} />
        <Diagram name={process.processDefinitionName} xml={data.bpmn} marks={marks} />
      </Section>
      <Section title={t.elements} isFlush>
        <Table
          caption={t.elements}
          columns={columns}
          rows={byMeasure(elements, measure)}
          keyOf={({ bpmnElementId }) => bpmnElementId}
        />
      </Section>
    </>
  );
}

/** Levels differ by number, border and range, not only by color. */
function Legend({ levels, measure }: { levels: readonly Level[]; measure: Measure }): JSX.Element {
  if (levels.length === 0) {
    return <p>{t.heat.noValues}</p>;
  }
  return (
    <ul class="heat-legend" aria-label={t.heat.legend(t.heat.measures[measure])}>
      {levels.map((level) => (
        <li key={level.level}>
          <span class={`heat-swatch heat-swatch-${level.level}`} aria-hidden="true">
            {level.level}
          </span>
          {levelText(measure, level)}
        </li>
      ))}
    </ul>
  );
}

function columnsOf({ appId, processDefinitionName }: Process): readonly Column<ElementStatistics>[] {
  const incidentsAt = (bpmnElementId: string): string =>
    `/instances/incidents?${new URLSearchParams({ applicationId: appId, processDefinitionName, bpmnElementId }).toString()}`;
  const figure = (measure: Measure): Column<ElementStatistics> => ({
    title: t.heat.measures[measure],
    cell: (element) => valueText(measure, element[measure]),
    isNumber: true,
  });
  return [
    { title: t.element, cell: ({ name, bpmnElementId }) => name ?? bpmnElementId },
    figure('entered'),
    figure('standing'),
    figure('medianMs'),
    figure('p95Ms'),
    {
      title: t.heat.visits,
      cell: ({ visits }) => visits.toLocaleString('en'),
      isNumber: true,
      isExtra: true,
    },
    figure('incidentRate'),
    {
      title: t.incidents,
      cell: ({ bpmnElementId, incidents, openIncidents }) =>
        incidents === 0 ? (
          '0'
        ) : (
          <Link to={incidentsAt(bpmnElementId)}>{t.heat.incidents(incidents, openIncidents)}</Link>
        ),
      isNumber: true,
    },
  ];
}
