import type { JSX } from 'preact';
import type { ListedApplication } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Empty, Pager } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import { placeOfApplication } from './application-paths.js';

const { applications } = texts;

const COLUMNS: readonly Column<ListedApplication>[] = [
  {
    title: applications.application,
    cell: ({ applicationId }) => <Link to={placeOfApplication(applicationId)}>{applicationId}</Link>,
  },
  { title: applications.versions, cell: ({ versions }) => versions, isNumber: true },
  { title: applications.created, cell: ({ createdDate }) => <Moment at={createdDate} />, isTight: true },
  {
    title: applications.committed,
    cell: ({ committedDate }) => <Moment at={committedDate} />,
    isTight: true,
  },
];

/** Applications that are stored here. */
export function Page(): JSX.Element {
  const pages = usePages(async (after, signal) => {
    const query = after === undefined ? {} : { after };
    const { data } = await api().listApplications({ query, signal });
    return { items: data.applications, next: data.next };
  }, []);
  const isEmpty = !pages.isLoading && pages.error === undefined && pages.items.length === 0;
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
        {isEmpty ? (
          <Empty title={applications.none} />
        ) : (
          <Table
            caption={applications.list}
            columns={COLUMNS}
            rows={pages.items}
            keyOf={({ applicationId }) => applicationId}
          />
        )}
        <Pager pages={pages} />
      </Section>
    </>
  );
}
