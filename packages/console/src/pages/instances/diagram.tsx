import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HistoryEvent, InstanceResponse } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { heatMapPath } from '../../app/places.js';
import { Diagram } from '../../diagram/diagram.js';
import type { Pages } from '../../live/use-pages.js';
import { Badge } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Note, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import { useBpmnFile } from './use-bpmn-file.js';
import { elementStates, marksOf, type ElementState } from './element-states.js';

const t = texts.instances;

const COLUMNS: readonly Column<ElementState>[] = [
  { title: t.element, cell: ({ name, elementId }) => name ?? elementId },
  { title: t.now, cell: (state) => <Now state={state} /> },
  { title: t.entered, cell: ({ entered }) => entered, isNumber: true },
];

/** Progress of an instance as a diagram and as a table. */
export function InstanceDiagram({
  instance,
  trail,
}: {
  instance: InstanceResponse;
  trail: Pages<HistoryEvent>;
}): JSX.Element {
  const { uuid, applicationId, buildId, processDefinitionName } = instance;
  const file = useBpmnFile(uuid);
  const states = useMemo(() => elementStates(instance, trail.items), [instance, trail.items]);
  const xml = file.data;
  const marks = useMemo(
    () => (xml === undefined ? [] : marksOf(states, trail.items, xml)),
    [states, trail.items, xml],
  );
  return (
    <>
      <Shown answer={file}>
        {(bpmn) => <Diagram name={processDefinitionName} xml={bpmn} marks={marks} />}
      </Shown>
      {trail.hasMore && (
        <Note>
          <p>{t.countsOfNewest(trail.items.length)}</p>
        </Note>
      )}
      <Section
        title={t.elements}
        isFlush
        actions={
          may('process-read', applicationId) && (
            <Link to={heatMapPath(applicationId, buildId, processDefinitionName)}>{t.heat.link}</Link>
          )
        }
      >
        <Table caption={t.elements} columns={COLUMNS} rows={states} keyOf={({ elementId }) => elementId} />
      </Section>
    </>
  );
}

function Now({ state: { tokens, incidents } }: { state: ElementState }): JSX.Element {
  return (
    <>
      {incidents > 0 && <Badge tone="bad">{t.stoppedHere(incidents)}</Badge>}{' '}
      {tokens > 0 && <Badge tone="busy">{t.tokensHere(tokens)}</Badge>}
      {tokens === 0 && incidents === 0 && <span class="quiet">{t.passed}</span>}
    </>
  );
}
