import type { JSX } from 'preact';
import type { Task } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Link } from '../../parts/button.js';
import { Moment } from '../../parts/facts.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const { home } = texts;
const REFRESH_MS = 15_000;
/** Number of instances searched for tasks. */
const SEARCHED = 100;
const SHOWN = 8;

const COLUMNS: readonly Column<Task>[] = [
  {
    title: home.task,
    cell: ({ processInstanceUuid, nodeName, bpmnElementId }) => (
      <Link to={`/tasks/${processInstanceUuid}`}>{nodeName ?? bpmnElementId ?? home.task}</Link>
    ),
  },
  { title: home.process, cell: ({ processDefinitionName }) => processDefinitionName },
  { title: home.since, cell: ({ waitsSince }) => <Moment at={waitsSince} />, isTight: true },
];

/** Tasks of the user. */
export function Waiting(): JSX.Element {
  const page = useAnswer(
    async (signal) => (await api().listTasks({ query: { limit: SEARCHED }, signal })).data,
    [],
    { refreshMs: REFRESH_MS },
  );
  return (
    <Section title={home.waiting} isFlush actions={<Link to="/tasks">{home.allTasks}</Link>}>
      <Shown answer={page}>
        {({ tasks, next }) => (
          <Table
            caption={home.waiting}
            columns={COLUMNS}
            rows={tasks.slice(0, SHOWN)}
            keyOf={({ tokenUuid }) => tokenUuid}
            empty={<Empty title={next === null ? home.nothingWaits : home.noneOfNewest(SEARCHED)} />}
          />
        )}
      </Shown>
    </Section>
  );
}
