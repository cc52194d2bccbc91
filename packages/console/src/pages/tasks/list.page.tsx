import type { JSX } from 'preact';
import type { Task } from '../../../../client/src/index.js';
import { queryValues } from '../../app/query.js';
import { api } from '../../app/session.js';
import { usePages, type Pages } from '../../live/use-pages.js';
import { Badge } from '../../parts/badge.js';
import { Button, Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Filters, type Filter } from '../../parts/filters.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

const t = texts.tasks;
/** Number of instances searched per page. */
const SEARCHED = 200;
/** Maximum number of pages without tasks to skip automatically. Then the user has to ask for more. */
const MAX_EMPTY_PAGES = 4;

const FILTERS: readonly Filter[] = [
  { name: 'applicationId', label: t.application },
  { name: 'processDefinitionName', label: t.process },
];

const COLUMNS: readonly Column<Task>[] = [
  {
    title: t.task,
    cell: ({ processInstanceUuid, nodeName, bpmnElementId }) => (
      <>
        <Link to={`/tasks/${processInstanceUuid}`}>{nodeName ?? bpmnElementId ?? t.unnamed}</Link>
        <code class="quiet below">{processInstanceUuid}</code>
      </>
    ),
  },
  { title: t.process, cell: ({ processDefinitionName }) => processDefinitionName },
  { title: t.lane, cell: ({ lane }) => lane ?? '–', isExtra: true },
  {
    title: t.actions,
    cell: ({ uiActions }) => (
      <ul class="chips">
        {uiActions
          .filter(({ back }) => !back)
          .map(({ svcUuid, name }) => (
            <li key={svcUuid}>
              <Badge>{name}</Badge>
            </li>
          ))}
      </ul>
    ),
    isExtra: true,
  },
  { title: t.application, cell: ({ applicationId }) => applicationId, isExtra: true },
  { title: t.waits, cell: ({ waitsSince }) => <Moment at={waitsSince} />, isTight: true },
];

/** Tasks of the user. */
export function Page({ query }: PageProps): JSX.Element {
  const pages = useTasks(query);
  return (
    <>
      <PageHead
        title={t.title}
        lead={t.lead}
        actions={
          <Link kind="primary" to="/tasks/start">
            {t.start}
          </Link>
        }
      />
      <Section title={t.search}>
        <Filters filters={FILTERS} query={query} />
      </Section>
      <Section
        title={t.waiting}
        isFlush
        actions={<Button onClick={pages.reload}>{texts.parts.refresh}</Button>}
      >
        <PagedTable
          caption={t.waiting}
          columns={COLUMNS}
          pages={pages}
          keyOf={({ tokenUuid }) => tokenUuid}
          none={pages.hasMore ? t.noneYet : t.none}
        />
      </Section>
    </>
  );
}

function useTasks(query: URLSearchParams): Pages<Task> {
  return usePages<Task>(
    async (before, signal) => {
      const filters = queryValues(query, ['applicationId', 'processDefinitionName']);
      let next = before;
      for (let page = 0; ; page += 1) {
        const cursor = next === undefined ? {} : { before: next };
        const { data } = await api().listTasks({
          query: { ...filters, ...cursor, limit: SEARCHED },
          signal,
        });
        if (data.tasks.length > 0 || data.next === null || page >= MAX_EMPTY_PAGES) {
          return { items: data.tasks, next: data.next };
        }
        ({ next } = data);
      }
    },
    [query.toString()],
  );
}
