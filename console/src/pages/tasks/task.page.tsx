import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Task } from '../../../../clients/typescript/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
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

/** What waits for the person in one instance; the next step when this one is done. */
export function Page({ params }: PageProps): JSX.Element {
  const uuid = params['uuid'] ?? '';
  const [done, setDone] = useState<string | undefined>();
  const readable = useReadable(uuid);
  const tasks = useAnswer(
    async (signal) => (await api().listTasks({ query: { processInstanceUuid: uuid }, signal })).data.tasks,
    [uuid],
    // Who may act here may not be allowed to read it; then there is no stream.
    readable === false ? { refreshMs: REFRESH_MS } : {},
  );
  const { isLive } = useProgress(readable === true ? uuid : undefined, ({ event }) => {
    if (event !== 'instance') {
      tasks.reload();
    }
  });
  const [first] = tasks.data ?? [];
  return (
    <>
      <PageHead
        title={first?.nodeName ?? t.task}
        lead={first?.processDefinitionName}
        crumbs={[{ title: t.title, to: '/tasks' }]}
        actions={readable === true && <Link to={`/instances/${uuid}`}>{t.toInstance}</Link>}
      />
      {done !== undefined && (
        <Note tone="good">
          <p role="status">{t.done(done)}</p>
        </Note>
      )}
      <Shown answer={tasks}>
        {(found) =>
          found.length === 0 ? (
            <NothingWaits isWaiting={isLive || readable === false} />
          ) : (
            found.map((task) => (
              <TaskForms
                key={task.tokenUuid + task.waitsSince}
                task={task}
                onDone={(name) => {
                  setDone(name);
                  tasks.reload();
                }}
              />
            ))
          )
        }
      </Shown>
    </>
  );
}

/** Whether the person may read the instance; undefined as long as nobody knows. */
function useReadable(uuid: string): boolean | undefined {
  const { data, error } = useAnswer(
    async (signal) =>
      (await api().getProcessInstance({ path: { uuid }, query: { include: '' }, signal })).data,
    [uuid],
  );
  if (data !== undefined) {
    return true;
  }
  return error === undefined ? undefined : false;
}

function NothingWaits({ isWaiting }: { isWaiting: boolean }): JSX.Element {
  return (
    <Note title={t.nothingHere}>
      <p>{isWaiting ? t.staysOpen : t.hasEnded}</p>
      <p>
        <Link to="/tasks">{t.all}</Link>
      </p>
    </Note>
  );
}

function TaskForms({ task, onDone }: { task: Task; onDone: (name: string) => void }): JSX.Element {
  const forward = task.uiActions.filter(({ back }) => !back);
  const back = task.uiActions.filter((action) => action.back);
  return (
    <>
      {[...forward, ...back].map((action) => (
        <Section
          key={action.svcUuid}
          title={action.back ? t.goBack(action.name) : `${task.nodeName ?? t.task}: ${action.name}`}
        >
          <ActionForm task={task} action={action} onDone={() => onDone(action.name)} />
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
