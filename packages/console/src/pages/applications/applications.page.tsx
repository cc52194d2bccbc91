import type { JSX } from 'preact';
import type { ListedApplication } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import { applicationPath } from './application-paths.js';

const { applications } = texts;

const COLUMNS: readonly Column<ListedApplication>[] = [
  {
    title: applications.application,
    cell: ({ applicationId }) => <Link to={applicationPath(applicationId)}>{applicationId}</Link>,
  },
  { title: applications.versions, cell: ({ versions }) => versions, isNumber: true },
  { title: applications.created, cell: ({ createdDate }) => <Moment at={createdDate} />, isTight: true },
  {
    title: applications.committed,
    cell: ({ committedDate }) => <Moment at={committedDate} />,
    isTight: true,
  },
];

/** List of applications. */
export function Page(): JSX.Element {
  const pages = usePages(async (after, signal) => {
    const query = after === undefined ? {} : { after };
    const { data } = await api().listApplications({ query, signal });
    return { items: data.applications, next: data.next };
  }, []);
  return (
    <>
      <PageHead
        title={applications.title}
        lead={applications.lead}
        actions={
          <Link to="/deliver" kind="primary">
            {applications.deliver}
          </Link>
        }
      />
      <Section title={applications.list} isFlush>
        <PagedTable
          caption={applications.list}
          columns={COLUMNS}
          pages={pages}
          keyOf={({ applicationId }) => applicationId}
          none={applications.none}
        />
      </Section>
    </>
  );
}
