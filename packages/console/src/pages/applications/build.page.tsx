import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { BuildLibrary, BuildManifestResponse, BuildResource } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { heatMapPath } from '../../app/places.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { Button, Link } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { Facts, Id, Moment } from '../../parts/facts.js';
import { LongTable } from '../../parts/long-table.js';
import { notify } from '../../parts/messages.js';
import { Empty, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { crumbsTo, buildPath, versionPath } from './application-paths.js';
import { Differences } from './differences.js';
import { Preflight } from './preflight.js';
import { Withdrawal } from './withdrawal.js';
import { useActiveBuild, type ActiveBuild } from './use-active-build.js';

const { applications } = texts;

const resourcesOf = (appId: string, buildId: string): readonly Column<BuildResource>[] => [
  {
    title: applications.name,
    cell: ({ name, resourceType }) =>
      resourceType === 'PROCESS' && may('process-read', appId) ? (
        <Link to={heatMapPath(appId, buildId, name)}>{name}</Link>
      ) : (
        name
      ),
  },
  { title: applications.part, cell: ({ resourceType }) => <Badge>{resourceType}</Badge>, isTight: true },
  {
    title: applications.definition,
    cell: ({ resourceDefinitionId }) => <code>{resourceDefinitionId}</code>,
    isExtra: true,
  },
];
const LIBRARIES: readonly Column<BuildLibrary>[] = [
  { title: applications.application, cell: ({ appId }) => appId },
  {
    title: applications.build,
    cell: ({ appId, buildId }) => <Link to={buildPath(appId, buildId)}>{buildId}</Link>,
  },
  { title: applications.level, cell: ({ level }) => level, isNumber: true },
];

/** One build: its contents, its differences, and whether its agents are ready. */
export function Page({ params }: PageProps): JSX.Element {
  const appId = params['appId'] ?? '';
  const buildId = params['buildId'] ?? '';
  const path = { appId, buildId };
  const active = useActiveBuild(appId);
  const manifest = useAnswer(
    async (signal) => (await api().getBuild({ path, signal })).data,
    [appId, buildId],
  );
  const preflight = useAnswer(
    async (signal) => (await api().preflightBuild({ path, signal })).data,
    [appId, buildId],
  );
  return (
    <>
      <Head path={path} active={active} manifest={manifest} />
      <Shown answer={manifest}>{(data) => <Manifest manifest={data} />}</Shown>
      {manifest.data?.buildStatus !== 'WITHDRAWN' && (
        <Differences key={active.data?.buildId ?? ''} {...path} />
      )}
      <Preflight answer={preflight} />
    </>
  );
}

interface HeadProps {
  path: { appId: string; buildId: string };
  active: Answer<ActiveBuild>;
  manifest: Answer<BuildManifestResponse>;
}

function Head({ path, active, manifest }: HeadProps): JSX.Element {
  const isActive = active.data?.buildId === path.buildId;
  const isWithdrawn = manifest.data?.buildStatus === 'WITHDRAWN';
  const isUsable = manifest.data !== undefined && !isWithdrawn;
  const mayActivate = active.data !== undefined && !isActive && isUsable;
  const reload = (): void => {
    active.reload();
    manifest.reload();
  };
  return (
    <PageHead
      title={applications.buildTitle(path.buildId)}
      crumbs={crumbsTo(path.appId)}
      state={
        <>
          {isActive && <Badge tone="good">{applications.active}</Badge>}
          {isWithdrawn && <Badge tone="bad">{applications.withdrawn}</Badge>}
        </>
      }
      actions={
        <>
          {mayActivate && <Activation {...path} active={active} />}
          {manifest.data !== undefined && (
            <Withdrawal key={String(isWithdrawn)} {...path} isWithdrawn={isWithdrawn} onWithdrawn={reload} />
          )}
        </>
      }
    />
  );
}

interface ActivationProps {
  appId: string;
  buildId: string;
  active: Answer<ActiveBuild>;
}

function Activation({ appId, buildId, active }: ActivationProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const activate = useAction(async () => {
    const tag = active.data?.tag ?? null;
    await api().activateBuild({
      path: { appId },
      ...(tag === null ? {} : { headers: { 'If-Match': tag } }),
      body: { buildId },
    });
    notify(applications.activated);
    setIsOpen(false);
    active.reload();
  });
  const close = (): void => {
    setIsOpen(false);
    if (activate.error !== undefined) {
      active.reload();
    }
    activate.clear();
  };
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        {applications.activate}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={applications.activateTitle}
          confirm={applications.activate}
          isBusy={activate.isBusy}
          error={activate.error}
          onConfirm={activate.run}
          onClose={close}
        >
          <p>{applications.activateLead}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Manifest({ manifest }: { manifest: BuildManifestResponse }): JSX.Element {
  const { applicationId, applicationVersionId, buildId, checksum, createdBy, createdDate } = manifest;
  const { resources, libraries } = manifest;
  return (
    <>
      <Section title={applications.details}>
        <Facts
          facts={[
            [
              applications.version,
              <Link key="version" to={versionPath(applicationId, applicationVersionId)}>
                {applicationVersionId}
              </Link>,
            ],
            [applications.created, <Moment key="created" at={createdDate} />],
            [applications.createdBy, createdBy.userName],
            [applications.checksum, <Id key="checksum" value={checksum} />],
          ]}
        />
      </Section>
      <Section title={applications.contents} isFlush>
        <LongTable
          caption={applications.contents}
          columns={resourcesOf(applicationId, buildId)}
          rows={resources}
          keyOf={({ resourceId }) => resourceId}
          textOf={({ name, resourceType }) => `${name}\n${resourceType}`}
          empty={<Empty title={applications.noContents} />}
        />
      </Section>
      {libraries.length > 0 && (
        <Section title={applications.libraries} isFlush>
          <Table
            caption={applications.libraries}
            columns={LIBRARIES}
            rows={libraries}
            keyOf={({ buildId }) => buildId}
          />
        </Section>
      )}
    </>
  );
}
