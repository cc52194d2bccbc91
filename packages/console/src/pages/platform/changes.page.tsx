import type { JSX } from 'preact';
import type { Change } from '../../../../client/src/index.js';
import { queryTimes, queryValues } from '../../app/query.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { Badge } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Filters, type Filter } from '../../parts/filters.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import type { Tone } from '../../parts/tones.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';

const t = texts.platform;
const PAGE_SIZE = 50;

const TONES: Readonly<Record<Change['event'], Tone>> = {
  added: 'busy',
  removed: 'warn',
  changed: 'warn',
  healthy: 'good',
  unhealthy: 'bad',
};

const FILTERS: readonly Filter[] = [
  { name: 'key', label: t.component },
  { name: 'from', label: t.noticedFrom, type: 'datetime-local' },
  { name: 'to', label: t.noticedTo, type: 'datetime-local' },
];

const COLUMNS: readonly Column<Change>[] = [
  {
    title: t.component,
    cell: ({ key }) => <Link to={`/platform/changes?key=${encodeURIComponent(key)}`}>{key}</Link>,
  },
  { title: t.event, cell: ({ event }) => <Badge tone={TONES[event]}>{event}</Badge>, isTight: true },
  { title: t.kind, cell: ({ map }) => t.maps[map], isExtra: true },
  { title: t.reason, cell: ({ error }) => error ?? '–', isText: true },
  { title: t.noticed, cell: ({ noticedAt }) => <Moment at={noticedAt} />, isTight: true },
  {
    title: t.scan,
    cell: ({ scanId }) => <Link to={`/platform?scan=${scanId}`}>{scanId}</Link>,
    isTight: true,
    isExtra: true,
  },
];

/** Changes of all components, or of one, between scans. */
export function Page({ query }: PageProps): JSX.Element {
  const pages = usePages<Change>(
    async (next, signal) => {
      const before = next === undefined ? {} : { before: Number(next) };
      const { data } = await api().listComponentChanges({
        query: { ...queryValues(query, ['key']), ...queryTimes(query), ...before, limit: PAGE_SIZE },
        signal,
      });
      return { items: data.changes, next: data.next === null ? null : String(data.next) };
    },
    [query.toString()],
  );
  return (
    <>
      <PageHead title={t.changes} lead={t.changesLead} crumbs={[{ title: t.title, to: '/platform' }]} />
      <Section title={t.search}>
        <Filters filters={FILTERS} query={query} />
      </Section>
      <Section title={t.changes} isFlush>
        <PagedTable
          caption={t.changes}
          columns={COLUMNS}
          pages={pages}
          keyOf={({ id }) => String(id)}
          none={t.noChanges}
        />
      </Section>
    </>
  );
}
