import { pagesOf, type ApplicationAuditEvent } from '../../../../client/src/index.js';
import { csvOf } from './audit-csv.js';
import { eventsOf, type AuditFilters } from './audit-query.js';

/** An export ends with so many events: a browser holds them all. */
export const EXPORT_LIMIT = 10_000;
const PAGE_SIZE = 100;

/** What an export is written as. */
export type ExportFormat = 'csv' | 'json';

/** Events of an export. */
export interface Exported {
  events: ApplicationAuditEvent[];
  /** There are more than the limit. */
  isCut: boolean;
}

/**
 * Reads what the filters give, page by page.
 * @param tell is called with the number of events so far
 */
export async function readEvents(
  filters: AuditFilters,
  tell: (count: number) => void,
  signal: AbortSignal,
): Promise<Exported> {
  const events: ApplicationAuditEvent[] = [];
  let hasMore = false;
  for await (const page of pagesOf(async ({ before }) => ({
    data: await eventsOf(filters, { before, limit: PAGE_SIZE, signal }),
  }))) {
    events.push(...page.events);
    hasMore = page.next !== null;
    tell(Math.min(events.length, EXPORT_LIMIT));
    if (events.length >= EXPORT_LIMIT) {
      break;
    }
  }
  return {
    events: events.slice(0, EXPORT_LIMIT),
    isCut: hasMore || events.length > EXPORT_LIMIT,
  };
}

/** Writes events as a file. */
export function fileOf(events: readonly ApplicationAuditEvent[], format: ExportFormat): Blob {
  return format === 'json'
    ? new Blob([JSON.stringify(events, null, 2)], { type: 'application/json' })
    : new Blob([csvOf(events)], { type: 'text/csv;charset=utf-8' });
}

/** Gives a file to the person. */
export function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
