import { pagesOf, type ApplicationAuditEvent } from '../../../../client/src/index.js';
import { csvOf } from './audit-csv.js';
import { eventsOf, type AuditFilters } from './audit-query.js';

/** Maximum number of events in an export, which is held in memory. */
export const EXPORT_LIMIT = 10_000;
const PAGE_SIZE = 100;

/** File format of an export. */
export type ExportFormat = 'csv' | 'json';

/** Exported events. */
export interface Exported {
  events: ApplicationAuditEvent[];
  /** Whether more events match than the limit allows. */
  isCut: boolean;
}

/**
 * Reads all events that match the filters.
 * @param onProgress receives the number of events so far
 */
export async function readEvents(
  filters: AuditFilters,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<Exported> {
  const events: ApplicationAuditEvent[] = [];
  let hasMore = false;
  for await (const page of pagesOf(async ({ before }) => ({
    data: await eventsOf(filters, { before, limit: PAGE_SIZE, signal }),
  }))) {
    events.push(...page.events);
    hasMore = page.next !== null;
    onProgress(Math.min(events.length, EXPORT_LIMIT));
    if (events.length >= EXPORT_LIMIT) {
      break;
    }
  }
  return {
    events: events.slice(0, EXPORT_LIMIT),
    isCut: hasMore || events.length > EXPORT_LIMIT,
  };
}

/** Creates a file from events. */
export function fileOf(events: readonly ApplicationAuditEvent[], format: ExportFormat): Blob {
  return format === 'json'
    ? new Blob([JSON.stringify(events, null, 2)], { type: 'application/json' })
    : new Blob([csvOf(events)], { type: 'text/csv;charset=utf-8' });
}

/** Starts the download of a file. */
export function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
