import type { JSX } from 'preact';
import type { SystemSummary } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Badge, State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { LongTable } from '../../parts/long-table.js';
import { Empty, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import type { Column } from '../../parts/table.js';
import { chosenVersion, VersionChoice, type ChosenVersion } from '../../parts/version-choice.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { pathOf, systemPath } from './system-paths.js';

const { systems } = texts;

const COLUMNS: readonly Column<SystemSummary>[] = [
  {
    title: systems.system,
    cell: (system) =>
      system.type === 'MCP' ? <Link to={systemPath(pathOf(system))}>{system.name}</Link> : system.name,
  },
  { title: systems.type, cell: ({ type }) => <Badge>{type}</Badge>, isTight: true },
  { title: systems.description, cell: ({ description }) => description, isExtra: true, isText: true },
  { title: systems.ofApplication, cell: ({ appId }) => appId, isExtra: true },
  { title: systems.ofVersion, cell: ({ appVersionId }) => appVersionId, isExtra: true },
  {
    title: systems.versionState,
    cell: ({ manifestInfo }) => manifestInfo !== undefined && <State of={manifestInfo.status} />,
    isTight: true,
    isExtra: true,
  },
  {
    title: systems.changed,
    cell: ({ manifestInfo }) => <Moment at={manifestInfo?.lastChangeTime} />,
    isTight: true,
  },
];

/** Systems of an application version and its libraries. */
export function Page({ query }: PageProps): JSX.Element {
  const chosen = chosenVersion(query);
  const { appId, versionId } = chosen;
  const register = new URLSearchParams({ app: appId, version: versionId });
  return (
    <>
      <PageHead
        title={systems.title}
        lead={systems.lead}
        actions={
          <Link to={`/systems/register?${register.toString()}`} kind="primary">
            {systems.register}
          </Link>
        }
      />
      <VersionChoice {...chosen} />
      {appId === '' || versionId === '' ? (
        <Empty title={systems.chooseVersion} />
      ) : (
        <Listed key={`${appId} ${versionId}`} {...chosen} />
      )}
    </>
  );
}

function Listed({ appId, versionId }: ChosenVersion): JSX.Element {
  const list = useAnswer(
    async (signal) => {
      const query = { includeManifestInfo: true };
      return (await api().listSystems({ path: { appId, versionId }, query, signal })).data.systems;
    },
    [appId, versionId],
  );
  return (
    <Section title={systems.list} isFlush>
      <Shown answer={list}>
        {(rows) => (
          <LongTable
            caption={systems.list}
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            textOf={({ name, description, type, manifestInfo }) =>
              [name, description, type, manifestInfo?.resourceName].join('\n')
            }
            empty={<Empty title={systems.none} />}
          />
        )}
      </Shown>
    </Section>
  );
}
