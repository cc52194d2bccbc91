import type { ApplicationAuditEvent } from '../../../../client/src/index.js';

const COLUMNS: readonly (readonly [string, (event: ApplicationAuditEvent) => string])[] = [
  ['timestamp', ({ timestamp }) => timestamp],
  ['action', ({ action }) => action],
  ['outcome', ({ outcome }) => outcome],
  ['userName', ({ actor }) => actor.userName],
  ['onBehalfOf', ({ actor }) => actor.impersonatingUser?.userName ?? ''],
  ['subject', ({ subject }) => subject],
  ['issuer', ({ issuer }) => issuer],
  ['applicationVersionId', ({ applicationVersionId }) => applicationVersionId],
  ['systemResourceId', ({ systemResourceId }) => systemResourceId ?? ''],
  ['toolId', ({ toolId }) => toolId ?? ''],
  ['requestId', ({ requestId }) => requestId],
  ['callerRequestId', ({ callerRequestId }) => callerRequestId ?? ''],
  ['details', ({ details }) => (details === null ? '' : JSON.stringify(details))],
  ['id', ({ id }) => id],
];

/** Events as a table (RFC 4180), the names of its columns first. */
export function csvOf(events: readonly ApplicationAuditEvent[]): string {
  const rows = events.map((event) => COLUMNS.map(([, valueOf]) => cellOf(valueOf(event))));
  return [COLUMNS.map(([name]) => name), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** Programs for tables run what begins so as a formula; behind an apostrophe they take it for text. */
const FORMULA = /^[=+\-@\t\r\n]/;

function cellOf(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  // Some programs part cells at a semicolon or a tab.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
