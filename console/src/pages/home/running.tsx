import type { JSX } from 'preact';
import type { InstanceSummary } from '../../../../clients/typescript/src/index.js';
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
/** As many as one page of the list has at the most. */
const SAMPLE = 100;

interface RunningProcess {
  applicationId: string;
  processDefinitionName: string;
  count: number;
  newest: string;
  oldest: string;
}

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
  { title: home.newest, cell: ({ newest }) => <Moment at={newest} />, isTight: true },
  { title: home.oldest, cell: ({ oldest }) => <Moment at={oldest} />, isTight: true, isExtra: true },
  { title: home.count, cell: ({ count }) => count, isNumber: true },
];

/** Running instances by process. */
export function Running(): JSX.Element {
  const page = useAnswer(
    async (signal) =>
      (await api().listProcessInstances({ query: { state: 'STARTED', limit: SAMPLE }, signal })).data,
    [],
    { refreshMs: REFRESH_MS },
  );
  return (
    <Section title={home.runningByProcess} isFlush>
      <Shown answer={page}>
        {({ instances, next }) => (
          <>
            <Figure
              label={home.running}
              value={next === null ? instances.length : home.atLeast(instances.length)}
              note={next === null ? undefined : home.sampled(instances.length)}
              to="/instances?state=STARTED"
            />
            <Table
              caption={home.runningByProcess}
              columns={COLUMNS}
              rows={byProcess(instances)}
              keyOf={({ applicationId, processDefinitionName }) =>
                `${applicationId}\n${processDefinitionName}`
              }
              empty={<Empty title={home.noRunning} />}
            />
          </>
        )}
      </Shown>
    </Section>
  );
}

/** The list is newest first. */
function byProcess(instances: readonly InstanceSummary[]): RunningProcess[] {
  const groups = Map.groupBy(instances, (one) => `${one.applicationId}\n${one.processDefinitionName}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [newest] = group;
      const oldest = group.at(-1);
      return newest === undefined || oldest === undefined
        ? []
        : [
            {
              applicationId: newest.applicationId,
              processDefinitionName: newest.processDefinitionName,
              count: group.length,
              newest: newest.startedAt ?? newest.dateUpdated,
              oldest: oldest.startedAt ?? oldest.dateUpdated,
            },
          ];
    })
    .toSorted((one, other) => other.count - one.count);
}
