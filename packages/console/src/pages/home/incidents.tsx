import type { JSX } from 'preact';
import type { IncidentCount, IncidentCounts } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Link } from '../../parts/button.js';
import { Figure } from '../../parts/facts.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';

const { home } = texts;
const REFRESH_MS = 10_000;

const COLUMNS: readonly Column<IncidentCount>[] = [
  { title: home.code, cell: (place) => <Link to={instancesAt(place)}>{place.code}</Link> },
  { title: home.element, cell: ({ bpmnElementId }) => bpmnElementId ?? '–' },
  { title: home.process, cell: ({ processDefinitionName }) => processDefinitionName ?? '–' },
  { title: home.application, cell: ({ applicationId }) => applicationId ?? '–', isExtra: true },
  { title: home.count, cell: ({ open }) => open, isNumber: true },
];

/** Open incidents by code and element. */
export function Incidents(): JSX.Element {
  const counts = useAnswer(async (signal) => (await api().countProcessIncidents({ signal })).data, [], {
    refreshMs: REFRESH_MS,
  });
  return (
    <Section title={home.incidentsByPlace} isFlush>
      <Shown answer={counts}>{(data) => <Counts data={data} />}</Shown>
    </Section>
  );
}

function Counts({ data: { counts, complete } }: { data: IncidentCounts }): JSX.Element {
  const sum = counts.reduce((all, { open }) => all + open, 0);
  return (
    <>
      <Figure
        label={home.incidents}
        value={complete ? sum : home.atLeast(sum)}
        tone={sum === 0 ? 'good' : 'bad'}
        to="/instances/incidents?state=OPEN"
      />
      <Table
        caption={home.incidentsByPlace}
        columns={COLUMNS}
        rows={counts}
        keyOf={({ applicationId, processDefinitionName, bpmnElementId, code }) =>
          [applicationId, processDefinitionName, bpmnElementId, code].join('\n')
        }
        empty={<Empty title={home.noIncidents} />}
      />
    </>
  );
}

function instancesAt({ applicationId, processDefinitionName, bpmnElementId, code }: IncidentCount): string {
  const place = { applicationId, processDefinitionName, bpmnElementId };
  const known = Object.entries(place).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return `/instances/incidents?${new URLSearchParams([['state', 'OPEN'], ['code', code], ...known]).toString()}`;
}
