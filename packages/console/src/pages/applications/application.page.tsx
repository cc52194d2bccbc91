import type { JSX } from 'preact';
import type { BuildSummary, ListedVersion } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { usePages, type Pages } from '../../live/use-pages.js';
import { Badge, State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Empty } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { PagedTable } from '../../parts/paged-table.js';
import type { Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { buildPath, versionPath } from './application-paths.js';
import { useActiveBuild } from './use-active-build.js';

const { applications } = texts;

const VERSION_COLUMNS: readonly Column<ListedVersion>[] = [
  {
    title: applications.version,
    cell: ({ applicationId, applicationVersionId }) => (
      <Link to={versionPath(applicationId, applicationVersionId)}>{applicationVersionId}</Link>
    ),
  },
  { title: applications.state, cell: ({ status }) => <State of={status} />, isTight: true },
  { title: applications.created, cell: ({ createdDate }) => <Moment at={createdDate} />, isTight: true },
  {
    title: applications.committed,
    cell: ({ committedDate }) => <Moment at={committedDate} />,
    isTight: true,
    isExtra: true,
  },
];

/** One application: its versions, its builds, and which build is active. */
export function Page({ params }: PageProps): JSX.Element {
  const appId = params['appId'] ?? '';
  const versions = usePages(
    async (before, signal) => {
      const query = before === undefined ? {} : { before };
      const { data } = await api().listVersions({ path: { appId }, query, signal });
      return { items: data.versions, next: data.next };
    },
    [appId],
  );
  // An application exists once it has a version.
  const isUnknown = versions.items.length === 0 && !versions.isLoading && versions.error === undefined;
  return (
    <>
      <PageHead title={appId} crumbs={[{ title: applications.title, to: '/applications' }]} />
      {isUnknown ? (
        <Empty title={applications.unknown(appId)} />
      ) : (
        <>
          <Builds appId={appId} />
          <Versions pages={versions} />
        </>
      )}
    </>
  );
}

function Versions({ pages }: { pages: Pages<ListedVersion> }): JSX.Element {
  return (
    <Section title={applications.versions} isFlush>
      <PagedTable
        caption={applications.versions}
        columns={VERSION_COLUMNS}
        pages={pages}
        keyOf={({ applicationVersionId }) => applicationVersionId}
        none={applications.noVersions}
      />
    </Section>
  );
}

function Builds({ appId }: { appId: string }): JSX.Element {
  const active = useActiveBuild(appId);
  const pages = usePages(
    async (before, signal) => {
      const query = before === undefined ? {} : { before };
      const { data } = await api().listBuilds({ path: { appId }, query, signal });
      return { items: data.builds, next: data.next };
    },
    [appId],
  );
  const columns: readonly Column<BuildSummary>[] = [
    {
      title: applications.build,
      cell: ({ buildId, buildStatus }) => (
        <>
          <Link to={buildPath(appId, buildId)}>{buildId}</Link>{' '}
          {buildId === active.data?.buildId && <Badge tone="good">{applications.active}</Badge>}
          {buildStatus === 'WITHDRAWN' && <Badge tone="bad">{applications.withdrawn}</Badge>}
        </>
      ),
    },
    {
      title: applications.version,
      cell: ({ applicationVersionId }) => (
        <Link to={versionPath(appId, applicationVersionId)}>{applicationVersionId}</Link>
      ),
    },
    { title: applications.createdBy, cell: ({ createdBy }) => createdBy.userName, isExtra: true },
    { title: applications.created, cell: ({ createdDate }) => <Moment at={createdDate} />, isTight: true },
  ];
  return (
    <Section title={applications.builds} isFlush>
      <PagedTable
        caption={applications.builds}
        columns={columns}
        pages={pages}
        keyOf={({ buildId }) => buildId}
        none={applications.noBuilds}
      />
    </Section>
  );
}
