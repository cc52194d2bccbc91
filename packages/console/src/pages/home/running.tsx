import type { JSX } from 'preact';
import type { RunningProcess, RunningProcesses } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Link } from '../../parts/button.js';
import { Figure, Moment } from '../../parts/facts.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const { home } = texts;
const REFRESH_MS = 10_000;

const COLUMNS: readonly Column<RunningProcess>[] = [
  {
    title: home.process,
    cell: ({ applicationId, processDefinitionName }) => (
      <Link
        to={`/instances?${new URLSearchParams({ applicationId, processDefinitionName, state: 'STARTED' }).toString()}`}
      >
        {processDefinitionName}
      </Link>
    ),
  },
  { title: home.application, cell: ({ applicationId }) => applicationId },
  { title: home.newest, cell: ({ newestStartedAt }) => <Moment at={newestStartedAt} />, isTight: true },
  {
    title: home.oldest,
    cell: ({ oldestStartedAt }) => <Moment at={oldestStartedAt} />,
    isTight: true,
    isExtra: true,
  },
  { title: home.count, cell: ({ running }) => running.toLocaleString('en'), isNumber: true },
];

/** Running instances by process. */
export function Running(): JSX.Element {
  const counts = useAnswer(async (signal) => (await api().countRunningProcesses({ signal })).data, [], {
    refreshMs: REFRESH_MS,
  });
  return (
    <Section title={home.runningByProcess} isFlush>
      <Shown answer={counts}>{(data) => <Counts data={data} />}</Shown>
    </Section>
  );
}

function Counts({ data: { processes, complete } }: { data: RunningProcesses }): JSX.Element {
  const sum = processes.reduce((all, { running }) => all + running, 0);
  return (
    <>
      <Figure
        label={home.running}
        value={complete ? sum.toLocaleString('en') : home.atLeast(sum)}
        note={complete ? undefined : home.largestOnly(processes.length)}
        to="/instances?state=STARTED"
      />
      <Table
        caption={home.runningByProcess}
        columns={COLUMNS}
        rows={processes}
        keyOf={({ applicationId, processDefinitionName }) => `${applicationId}\n${processDefinitionName}`}
        empty={<Empty title={home.noRunning} />}
      />
    </>
  );
}
