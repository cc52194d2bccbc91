import type { JSX } from 'preact';
import type { InstanceResponse } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { setQuery } from '../../app/router.js';
import { Badge, State } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Duration, Facts, Id, Moment, type Fact } from '../../parts/facts.js';
import { Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { Tabs } from '../../parts/tabs.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { Calls, useRuns } from './calls.js';
import { InstanceData } from './data.js';
import { InstanceDiagram } from './diagram.js';
import { History } from './history.js';
import { InstanceIncidents } from './instance-incidents.js';
import { OperationButtons } from './operation-buttons.js';
import { personOf } from './person.js';
import { useInstance, type LiveInstance } from './use-instance.js';

const t = texts.instances;

/** One instance: its progress, data, history, calls and operations. */
export function Page({ params, query }: PageProps): JSX.Element {
  const live = useInstance(params['uuid'] ?? '');
  const { data } = live.answer;
  return (
    <>
      <PageHead
        title={data?.processDefinitionName ?? t.instance}
        crumbs={crumbsOf(data)}
        state={
          data !== undefined && (
            <>
              <State of={data.state} />
              {data.endedAt === null && (
                <Badge tone={live.isLive ? 'good' : 'quiet'}>
                  {live.isLive ? texts.parts.live : texts.parts.notLive}
                </Badge>
              )}
            </>
          )
        }
        actions={data !== undefined && <Actions instance={data} reload={live.answer.reload} />}
      />
      <Shown answer={live.answer}>
        {(instance) => <Content instance={instance} live={live} tab={query.get('tab') ?? 'diagram'} />}
      </Shown>
    </>
  );
}

function crumbsOf(instance: InstanceResponse | undefined): { title: string; to: string }[] {
  const parent = instance?.parentProcessInstanceUuid ?? null;
  return [
    { title: t.title, to: '/instances' },
    ...(parent === null ? [] : [{ title: t.caller, to: `/instances/${parent}` }]),
  ];
}

function Actions({ instance, reload }: { instance: InstanceResponse; reload: () => void }): JSX.Element {
  const actions = instance.tokens.flatMap(({ uiActions }) => uiActions);
  const hasTask = actions.some(({ back }) => !back);
  return (
    <>
      {actions.length > 0 && (
        <Link kind={hasTask ? 'primary' : 'plain'} to={`/tasks/${instance.uuid}`}>
          {hasTask ? t.toTask : t.toGoBack}
        </Link>
      )}
      {may('process-administration', instance.applicationId) && (
        <OperationButtons instance={instance} onDone={reload} />
      )}
    </>
  );
}

interface ContentProps {
  instance: InstanceResponse;
  live: LiveInstance;
  tab: string;
}

function Content({ instance, live, tab }: ContentProps): JSX.Element {
  const runs = useRuns(instance);
  const calls = (instance.children ?? []).length + runs.items.length;
  return (
    <>
      {instance.incidents.length > 0 && (
        <InstanceIncidents instance={instance} onRetried={live.answer.reload} />
      )}
      <Tabs
        label={t.views}
        value={tab}
        onChange={(id) => setQuery({ tab: id === 'diagram' ? undefined : id })}
        tabs={[
          { id: 'diagram', title: t.tabs.diagram },
          { id: 'data', title: t.tabs.data, count: Object.keys(instance.data).length },
          { id: 'history', title: t.tabs.history, count: live.trail.items[0]?.seq },
          { id: 'calls', title: t.tabs.calls, count: runs.hasMore ? `${calls}+` : calls },
        ]}
      >
        {tab === 'diagram' && <InstanceDiagram instance={instance} trail={live.trail} />}
        {tab === 'data' && <InstanceData instance={instance} trail={live.trail} />}
        {tab === 'history' && <History trail={live.trail} />}
        {tab === 'calls' && <Calls instance={instance} runs={runs} />}
      </Tabs>
      <Section title={t.facts}>
        <Facts facts={factsOf(instance)} />
      </Section>
    </>
  );
}

function factsOf(instance: InstanceResponse): readonly Fact[] {
  const { startedAt, endedAt, expiresAt } = instance;
  return [
    [t.uuid, <Id key="uuid" value={instance.uuid} />],
    [t.application, instance.applicationId],
    [t.build, <Id key="build" value={instance.buildId} />],
    [t.startedBy, personOf(instance.startedBy)],
    [t.started, <Moment key="started" at={startedAt} />],
    [t.changed, <Moment key="changed" at={instance.dateUpdated} />],
    endedAt === null
      ? [t.expires, <Moment key="expires" at={expiresAt} />]
      : [t.duration, <Duration key="duration" ms={Date.parse(endedAt) - Date.parse(startedAt)} />],
    [t.platform, instance.platform ?? '–'],
  ];
}
