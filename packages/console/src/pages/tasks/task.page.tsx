import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  ServiceError,
  type InstanceResponse,
  type OpenUiAction,
  type Task,
} from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import { useProgress } from '../../live/use-progress.js';
import { Link } from '../../parts/button.js';
import { Facts, Id, Moment } from '../../parts/facts.js';
import { Note, Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { ActionForm } from './action-form.js';

const t = texts.tasks;
const REFRESH_MS = 5_000;
const NOT_FOUND = 404;

/** Tasks of the user in one instance, and the steps back. */
export function Page({ params }: PageProps): JSX.Element {
  const uuid = params['uuid'] ?? '';
  const [sent, setSent] = useState<Sent | undefined>();
  const { instance, tasks } = useTasks(uuid);
  const first = tasks.data?.find(isWaiting);
  return (
    <>
      <PageHead
        title={first?.nodeName ?? t.task}
        lead={first?.processDefinitionName}
        crumbs={[{ title: t.title, to: '/tasks' }]}
        actions={instance.data !== undefined && <Link to={`/instances/${uuid}`}>{t.toInstance}</Link>}
      />
      {sent !== undefined && <SentNote {...sent} />}
      <Shown answer={tasks}>
        {(found) => (
          <>
            {!found.some(isWaiting) && <NothingWaits {...instance} />}
            {found.map((task) => (
              <TaskForms
                key={task.tokenUuid + task.waitsSince}
                task={task}
                onSent={(next) => {
                  setSent(next);
                  tasks.reload();
                }}
              />
            ))}
          </>
        )}
      </Shown>
    </>
  );
}

/** Last submission and its outcome. */
interface Sent {
  action: OpenUiAction;
  /** Whether the task had changed, so nothing was executed. */
  isStale: boolean;
}

function SentNote({ action: { name, back }, isStale }: Sent): JSX.Element {
  const message = back ? t.wentBack(name) : t.done(name);
  return (
    <Note tone={isStale ? 'warn' : 'good'}>
      <p role={isStale ? 'alert' : 'status'}>{isStale ? t.stale : message}</p>
    </Note>
  );
}

/** Loads the instance and the user's tasks in it, and follows both. */
function useTasks(uuid: string): { instance: Answer<InstanceResponse>; tasks: Answer<Task[]> } {
  const instance = useInstance(uuid);
  // Users with tasks may lack permission to read the instance. Then there is no stream, and the tasks are polled.
  const isReadable = instance.data !== undefined;
  const tasks = useAnswer(
    async (signal) => (await api().listTasks({ query: { processInstanceUuid: uuid }, signal })).data.tasks,
    [uuid],
    !isReadable && instance.error !== undefined ? { refreshMs: REFRESH_MS } : {},
  );
  const { error } = useProgress(isReadable ? uuid : undefined, () => {
    tasks.reload();
    instance.reload();
  });
  return { instance, tasks: { ...tasks, error: tasks.error ?? error } };
}

function useInstance(uuid: string): Answer<InstanceResponse> {
  return useAnswer(
    async (signal) =>
      (await api().getProcessInstance({ path: { uuid }, query: { include: '' }, signal })).data,
    [uuid],
  );
}

function isWaiting({ uiActions }: Task): boolean {
  return uiActions.some(({ back }) => !back);
}

function NothingWaits({ data: instance, error }: Answer<InstanceResponse>): JSX.Element {
  const unknown = error instanceof ServiceError && error.status === NOT_FOUND ? t.notThere : t.mayComeLater;
  return (
    <Note title={t.nothingHere} tone={(instance?.openIncidents ?? 0) > 0 ? 'warn' : 'quiet'}>
      <p>{instance === undefined ? unknown : reasonOf(instance)}</p>
      <p>
        <Link to="/tasks">{t.all}</Link>
      </p>
    </Note>
  );
}

function reasonOf({ state, openIncidents, endedAt }: InstanceResponse): string {
  if (endedAt !== null) {
    return t.hasEnded(state.toLowerCase());
  }
  if (openIncidents > 0) {
    return t.hasStopped(openIncidents);
  }
  return state === 'ONHOLD' ? t.isHeld : t.isRunning;
}

function TaskForms({ task, onSent }: { task: Task; onSent: (sent: Sent) => void }): JSX.Element {
  const forward = task.uiActions.filter(({ back }) => !back);
  const back = task.uiActions.filter((action) => action.back);
  return (
    <>
      {[...forward, ...back].map((action) => (
        <Section
          key={action.svcUuid}
          title={action.back ? t.goBack(action.name) : `${task.nodeName ?? t.task}: ${action.name}`}
        >
          <ActionForm
            task={task}
            action={action}
            onDone={() => onSent({ action, isStale: false })}
            onStale={() => onSent({ action, isStale: true })}
          />
        </Section>
      ))}
      <Section title={t.facts}>
        <Facts
          facts={[
            [t.process, task.processDefinitionName],
            [t.application, task.applicationId],
            [t.lane, task.lane ?? '–'],
            [t.waits, <Moment key="waits" at={task.waitsSince} />],
            [t.instance, <Id key="uuid" value={task.processInstanceUuid} />],
          ]}
        />
      </Section>
    </>
  );
}
