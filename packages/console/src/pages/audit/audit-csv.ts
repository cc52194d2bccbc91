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

/** Formats events as CSV with a header row (RFC 4180). */
export function csvOf(events: readonly ApplicationAuditEvent[]): string {
  const rows = events.map((event) => COLUMNS.map(([, valueOf]) => cellOf(valueOf(event))));
  return [COLUMNS.map(([name]) => name), ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

/** Start of cells that spreadsheets would run as formulas. An apostrophe before it makes them text. */
const FORMULA = /^[=+\-@\t\r\n]/;

function cellOf(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value;
  // Some programs split cells at semicolons or tabs.
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
