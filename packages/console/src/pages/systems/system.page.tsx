import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ConnectionTestResponse } from '../../../../client/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import { etagOf } from '../../live/versions.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Shown, Waiting } from '../../parts/notes.js';
import { PageHead } from '../../parts/page-head.js';
import { Tabs } from '../../parts/tabs.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { History } from './history.js';
import { Review } from './review.js';
import { SystemActions } from './system-actions.js';
import { SystemFacts } from './system-facts.js';
import { systemListPath, type SystemPath } from './system-paths.js';
import type { KnownSystem } from './system.types.js';
import { TestAnswer } from './test-answer.js';
import { Tools } from './tools.js';
import { Uses } from './uses.js';

const { systems } = texts;

/** One system: its connection, tools, review, uses and history. */
export function Page({ params, query }: PageProps): JSX.Element {
  const path = {
    appId: params['appId'] ?? '',
    versionId: params['versionId'] ?? '',
    systemResourceId: params['systemResourceId'] ?? '',
  };
  const answer = useAnswer(async (signal): Promise<KnownSystem> => {
    const { data, response } = await api().getSystem({ path, signal });
    return { path, system: data, version: etagOf(response) };
  }, Object.values(path));
  return answer.data === undefined ? (
    <>
      <PageHead title={systems.system} crumbs={crumbsOf(path)} />
      <Shown answer={answer}>{() => null}</Shown>
    </>
  ) : (
    <Known known={answer.data} answer={answer} view={query.get('view') ?? 'tools'} />
  );
}

function Known({
  known,
  answer,
  view,
}: {
  known: KnownSystem;
  answer: Answer<KnownSystem>;
  view: string;
}): JSX.Element {
  const { path, system } = known;
  const [tested, setTested] = useState<ConnectionTestResponse>();
  const test = useAction(async () => {
    setTested(undefined);
    const { data } = await api().testStoredConnection({ path });
    setTested(data);
    answer.reload();
  });
  return (
    <>
      <PageHead
        title={system.name}
        lead={system.description === '' ? undefined : system.description}
        crumbs={crumbsOf(path)}
        actions={
          <>
            <Button kind="primary" isBusy={test.isBusy} onClick={test.run}>
              {systems.test}
            </Button>
            <SystemActions known={known} reload={answer.reload} />
          </>
        }
      />
      <ErrorNote error={answer.error} retry={answer.reload} />
      <ErrorNote error={test.error} retry={() => void test.run()} />
      {test.isBusy && <Waiting>{systems.testing}</Waiting>}
      {tested !== undefined && (
        <TestAnswer answer={tested} needsToken={system.authorization.type === 'SERVICE_ACCOUNT'} />
      )}
      <Tabs
        label={systems.views}
        value={view}
        onChange={(id) => setQuery({ view: id })}
        tabs={[
          { id: 'tools', title: systems.tools, count: system.tools.length },
          { id: 'review', title: systems.review },
          { id: 'uses', title: systems.uses },
          { id: 'history', title: systems.history },
          { id: 'facts', title: systems.facts },
        ]}
      >
        <View view={view} known={known} reload={answer.reload} />
      </Tabs>
    </>
  );
}

interface ViewProps {
  view: string;
  known: KnownSystem;
  reload: () => void;
}

function View({ view, known, reload }: ViewProps): JSX.Element {
  switch (view) {
    case 'review':
      return <Review known={known} reload={reload} />;
    case 'uses':
      return <Uses known={known} />;
    case 'history':
      return <History known={known} />;
    case 'facts':
      return <SystemFacts known={known} />;
    default:
      return <Tools known={known} reload={reload} />;
  }
}

function crumbsOf(path: SystemPath): { title: string; to: string }[] {
  const { appId, versionId } = path;
  return [
    { title: systems.title, to: '/systems' },
    { title: `${appId} ${versionId}`, to: systemListPath(path) },
  ];
}
