import type { JSX } from 'preact';
import type { WorkflowSummary } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { LongTable } from '../../parts/long-table.js';
import { Empty, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import type { Column } from '../../parts/table.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { crumbsTo, workflowPath } from './application-paths.js';
import { PackageProblems } from './package-problems.js';
import { Preflight } from './preflight.js';
import { useVersionState } from '../../live/use-version-state.js';
import { VersionActions } from './version-actions.js';

const { applications } = texts;

/** One version: its workflows, package problems and preflight, with buttons to commit and build it. */
export function Page({ params }: PageProps): JSX.Element {
  const appId = params['appId'] ?? '';
  const versionId = params['versionId'] ?? '';
  const path = { appId, versionId };
  const version = useVersionState(appId, versionId);
  const preflight = useAnswer(
    async (signal) => (await api().preflightVersion({ path, signal })).data,
    [appId, versionId],
  );
  const systems = new URLSearchParams({ app: appId, version: versionId });
  const state = version.data ?? undefined;
  return (
    <>
      <PageHead
        title={applications.versionTitle(versionId)}
        crumbs={crumbsTo(appId)}
        state={state !== undefined && <State of={state} />}
        actions={
          <>
            {may('integration-management', appId) && (
              <Link to={`/systems?${systems.toString()}`} kind="plain">
                {applications.itsSystems}
              </Link>
            )}
            {state !== undefined && <VersionActions {...path} state={state} onCommitted={version.reload} />}
          </>
        }
      />
      <Shown answer={version}>
        {(found) => found === null && <Empty title={applications.unknownVersion(versionId, appId)} />}
      </Shown>
      {version.data !== null && (
        <>
          <Workflows {...path} />
          <PackageProblems {...path} />
          <Preflight answer={preflight} />
        </>
      )}
    </>
  );
}

function Workflows({ appId, versionId }: { appId: string; versionId: string }): JSX.Element {
  const workflows = useAnswer(
    async (signal) => (await api().listWorkflows({ path: { appId, versionId }, signal })).data.workflows,
    [appId, versionId],
  );
  const columns: readonly Column<WorkflowSummary>[] = [
    {
      title: applications.workflow,
      cell: ({ name }) => <Link to={workflowPath(appId, versionId, name)}>{name}</Link>,
    },
    { title: applications.description, cell: ({ description }) => description, isExtra: true, isText: true },
    { title: applications.nodes, cell: ({ nodeCount }) => nodeCount, isNumber: true },
  ];
  return (
    <Section title={applications.workflows} isFlush>
      <Shown answer={workflows}>
        {(rows) => (
          <LongTable
            caption={applications.workflows}
            columns={columns}
            rows={rows}
            keyOf={({ resourceId }) => resourceId}
            textOf={({ name, description }) => `${name}\n${description}`}
            empty={<Empty title={applications.noWorkflows} />}
          />
        )}
      </Shown>
    </Section>
  );
}
