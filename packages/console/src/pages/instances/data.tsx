import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HistoryEvent, InstanceResponse } from '../../../../client/src/index.js';
import type { Pages } from '../../live/use-pages.js';
import { Moment } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Empty, Note } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import { writesOf } from './bpmn-file.js';
import { useBpmnFile } from './use-bpmn-file.js';
import { useShownPart } from './use-shown-part.js';

const t = texts.instances;

/** Change of process data. */
interface Change {
  seq: number;
  members: string;
  place: string;
  /** Action or event that made the change. */
  what: string;
  actor: string | null;
  at: string;
}

const COLUMNS: readonly Column<Change>[] = [
  { title: t.members, cell: ({ members }) => <code>{members}</code> },
  { title: t.element, cell: ({ place }) => place },
  { title: t.what, cell: ({ what }) => what, isExtra: true },
  { title: t.by, cell: ({ actor }) => actor ?? t.background, isExtra: true },
  { title: t.when, cell: ({ at }) => <Moment at={at} />, isTight: true },
];

/** Process data and its changes. */
export function InstanceData({
  instance,
  trail,
}: {
  instance: InstanceResponse;
  trail: Pages<HistoryEvent>;
}): JSX.Element {
  const file = useBpmnFile(instance.uuid);
  const writes = useMemo(() => writesOf(file.data ?? '<none/>'), [file.data]);
  const changes = useMemo(() => changesOf(trail.items, writes), [trail.items, writes]);
  const { shown, button } = useShownPart(changes);
  return (
    <div class="columns">
      <Section title={t.tabs.data}>
        {instance.corrections.length > 0 && (
          <Note tone="warn" title={t.corrected}>
            <ul>
              {instance.corrections.map(({ members, by, at }) => (
                <li key={at}>
                  {t.correctedBy(members.join(', '), by)} <Moment at={at} />
                </li>
              ))}
            </ul>
          </Note>
        )}
        {Object.keys(instance.data).length === 0 ? (
          <Empty title={t.noData} />
        ) : (
          <JsonTree value={instance.data} openDepth={2} />
        )}
      </Section>
      <Section title={t.changes} isFlush>
        <Table
          caption={t.changes}
          columns={COLUMNS}
          rows={shown}
          keyOf={({ seq }) => String(seq)}
          empty={<Empty title={t.noChanges} />}
        />
        {button}
      </Section>
    </div>
  );
}

type Writes = ReturnType<typeof writesOf>;

/** @param events newest first */
function changesOf(events: readonly HistoryEvent[], writes: Writes): Change[] {
  return events.flatMap((event) => {
    const members = membersOf(event, writes);
    const { seq, actor, timestamp, nodeName, bpmnElementId } = event;
    const place = nodeName ?? bpmnElementId ?? t.wholeInstance;
    return members === undefined
      ? []
      : [{ seq, members: members.join(', '), place, what: whatOf(event), actor, at: timestamp }];
  });
}

/** Returns the fields that an event changed; undefined for events that change no data. */
function membersOf(
  { kind, data, bpmnElementId }: HistoryEvent,
  writes: Writes,
): readonly string[] | undefined {
  switch (kind) {
    case 'DATA_CHANGED':
      return namesOf(data?.['members']);
    case 'DATA_APPENDED':
      return namesOf(data?.['paths']);
    case 'ACTION_EXECUTED':
      return writes.get(`${bpmnElementId} ${String(data?.['name'])}`);
    case 'CHILD_ENDED':
      return bpmnElementId === null ? undefined : writes.get(bpmnElementId);
    default:
      return undefined;
  }
}

function whatOf({ kind, data }: HistoryEvent): string {
  if (kind === 'DATA_CHANGED') {
    return t.manualCorrection;
  }
  return kind === 'ACTION_EXECUTED' ? String(data?.['name']) : kind.toLowerCase().replaceAll('_', ' ');
}

function namesOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined;
}
