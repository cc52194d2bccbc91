import type { JSX } from 'preact';
import type { HistoryEvent } from '../../../../client/src/index.js';
import type { Pages } from '../../live/use-pages.js';
import { Badge } from '../../parts/badge.js';
import { Moment } from '../../parts/facts.js';
import { Pager } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import type { Tone } from '../../parts/tones.js';
import { texts } from '../../texts/texts.js';
import { useShownPart } from './use-shown-part.js';

const t = texts.instances;

const TONES: Partial<Record<HistoryEvent['kind'], Tone>> = {
  INCIDENT_RAISED: 'bad',
  ERROR_THROWN: 'bad',
  INCIDENT_CLOSED: 'good',
  RETRY: 'warn',
  DATA_CHANGED: 'warn',
  BACK: 'warn',
  INSTANCE_STATE: 'busy',
};

/** Maximum length of a value, because corrected values can be long. */
const MAX_VALUE = 2_000;

const COLUMNS: readonly Column<HistoryEvent>[] = [
  { title: t.number, cell: ({ seq }) => seq, isNumber: true },
  {
    title: t.what,
    cell: ({ kind }) => (
      <Badge tone={TONES[kind] ?? 'quiet'}>{kind.toLowerCase().replaceAll('_', ' ')}</Badge>
    ),
    isTight: true,
  },
  { title: t.element, cell: ({ nodeName, bpmnElementId }) => nodeName ?? bpmnElementId ?? '–' },
  { title: t.details, cell: ({ data }) => <Details data={data} />, isText: true },
  { title: t.by, cell: ({ actor }) => actor ?? t.background, isExtra: true },
  { title: t.when, cell: ({ timestamp }) => <Moment at={timestamp} />, isTight: true },
];

/** History of an instance, newest first. */
export function History({ trail }: { trail: Pages<HistoryEvent> }): JSX.Element {
  const { shown, button } = useShownPart(trail.items);
  return (
    <Section title={t.tabs.history} isFlush>
      <Table caption={t.tabs.history} columns={COLUMNS} rows={shown} keyOf={({ seq }) => String(seq)} />
      {button ?? <Pager pages={trail} />}
    </Section>
  );
}

function Details({ data }: { data: HistoryEvent['data'] }): JSX.Element {
  const entries = Object.entries(data ?? {}).filter(([, value]) => value !== null);
  return (
    <>
      {entries.map(([name, value]) => (
        <span key={name} class="detail">
          <span class="quiet">{name}</span>{' '}
          {shortened(typeof value === 'string' ? value : JSON.stringify(value))}
        </span>
      ))}
    </>
  );
}

function shortened(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)} …` : text;
}
