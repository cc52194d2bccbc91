import type { JSX } from 'preact';
import type { ApplicationAuditEvent } from '../../../client/src/index.js';
import type { Pages } from '../live/use-pages.js';
import { texts } from '../texts/texts.js';
import { Badge } from './badge.js';
import { Moment } from './facts.js';
import { JsonTree } from './json-tree.js';
import { PagedTable } from './paged-table.js';
import type { Column } from './table.js';
import type { Tone } from './tones.js';

const { parts } = texts;
const TONES: Readonly<Record<ApplicationAuditEvent['outcome'], Tone>> = {
  ok: 'good',
  denied: 'warn',
  timeout: 'warn',
  error: 'bad',
};

const COLUMNS: readonly Column<ApplicationAuditEvent>[] = [
  { title: parts.when, cell: ({ timestamp }) => <Moment at={timestamp} />, isTight: true },
  { title: parts.who, cell: (event) => <Actor event={event} /> },
  { title: parts.what, cell: ({ action }) => action, isTight: true },
  {
    title: parts.outcome,
    cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{outcome}</Badge>,
    isTight: true,
  },
  { title: parts.version, cell: ({ applicationVersionId }) => applicationVersionId, isExtra: true },
  { title: parts.details, cell: (event) => <Details event={event} />, isText: true },
];

/** Events of the audit log, newest first. */
export function AuditEvents({ pages }: { pages: Pages<ApplicationAuditEvent> }): JSX.Element {
  return (
    <PagedTable
      caption={parts.events}
      columns={COLUMNS}
      pages={pages}
      keyOf={({ id }) => id}
      none={parts.noEvents}
    />
  );
}

function Actor({ event: { actor, subject } }: { event: ApplicationAuditEvent }): JSX.Element {
  return (
    <span title={subject}>
      {actor.userName}
      {actor.impersonatingUser !== null && (
        <span class="quiet"> {texts.shell.impersonatedBy(actor.impersonatingUser.userName)}</span>
      )}
    </span>
  );
}

/** Fields of `details` that identify the subject of an event, most specific first. */
const SUBJECTS = ['tool', 'resourceName', 'workflow', 'buildId', 'processInstanceUuid', 'origin'] as const;

function subjectOf(details: ApplicationAuditEvent['details']): string {
  const known = SUBJECTS.map((name) => details?.[name]).find((value) => typeof value === 'string');
  return typeof known === 'string' ? known : '';
}

/** All fields of an event, collapsed at first. */
function Details({ event }: { event: ApplicationAuditEvent }): JSX.Element {
  const { systemResourceId, toolId, requestId, callerRequestId, subject, issuer, details } = event;
  const known = { ...details, systemResourceId, toolId, subject, issuer, requestId, callerRequestId };
  const present = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
  return (
    <>
      {subjectOf(details)}
      <JsonTree value={present} openDepth={0} />
    </>
  );
}
