import type { JSX } from 'preact';
import type { Scan } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { Link } from '../../parts/button.js';
import { Duration, Moment } from '../../parts/facts.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const t = texts.platform;
const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Scan>[] = [
  { title: t.scan, cell: ({ id }) => <Link to={`/platform?scan=${id}`}>{id}</Link>, isTight: true },
  { title: t.scanned, cell: ({ finishedAt }) => <Moment at={finishedAt} /> },
  { title: t.requestedBy, cell: ({ requestedBy }) => requestedBy, isExtra: true },
  { title: t.services, cell: ({ totalServices }) => totalServices, isNumber: true },
  { title: t.unhealthy, cell: ({ unhealthyServices }) => unhealthyServices, isNumber: true },
  { title: t.newServices, cell: ({ newServicesFound }) => newServicesFound, isNumber: true, isExtra: true },
  { title: t.changed, cell: ({ configurationChanges }) => configurationChanges, isNumber: true },
  { title: t.issues, cell: ({ issuesDetected }) => issuesDetected, isNumber: true, isExtra: true },
  { title: t.duration, cell: ({ durationMs }) => <Duration ms={durationMs} />, isTight: true, isExtra: true },
];

/** List of completed scans, newest first. */
export function Page(): JSX.Element {
  const pages = usePages<Scan>(async (next, signal) => {
    const before = next === undefined ? {} : { before: Number(next) };
    const { data } = await api().listScans({ query: { ...before, limit: PAGE_SIZE }, signal });
    return { items: data.scans, next: data.next === null ? null : String(data.next) };
  }, []);
  return (
    <>
      <PageHead title={t.scans} lead={t.scansLead} crumbs={[{ title: t.title, to: '/platform' }]} />
      <Section title={t.scans} isFlush>
        <PagedTable
          caption={t.scans}
          columns={COLUMNS}
          pages={pages}
          keyOf={({ id }) => String(id)}
          none={t.neverScanned}
        />
      </Section>
    </>
  );
}
