import type { ChangedTool, SyncReport } from '../model/tool.types.js';

/** What the audit log tells of a synchronisation. */
export interface SyncDetails extends Omit<SyncReport, 'changed'> {
  changed: ChangedTool[];
  /** Fields of the system that were filled. */
  fields: string[];
  /** How many entries of a list did not fit. */
  omitted?: Partial<Record<keyof SyncReport, number>>;
}

/** Lists of names, the most important first. */
const LISTS = ['disabledForReview', 'removed', 'returned', 'added', 'takenOver'] as const;
/** Member names, brackets and counts. */
const FRAME_BYTES = 512;

/**
 * The facts of a synchronisation in at most `maxBytes` of JSON: as many differences of changed tools as fit into half of
 * it, then names.
 * @param differences of the changed tools in the order of the report; read only as far as there is room
 */
export async function syncDetails(
  report: SyncReport,
  fields: string[],
  differences: AsyncIterable<ChangedTool>,
  maxBytes: number,
): Promise<SyncDetails> {
  const room = new Room(maxBytes - FRAME_BYTES);
  const told = await toldDifferences(differences, room.half());
  told.forEach((tool) => room.takes(tool));
  const bare = report.changed.slice(told.length).map((name) => ({ name, changes: [] }));
  const changed = [...told, ...room.fitting(bare)];
  const fitting = LISTS.map((list) => [list, room.fitting<unknown>(report[list])] as const);
  const details = { changed, ...Object.fromEntries(fitting), fields } as unknown as SyncDetails;
  const omitted = [...LISTS, 'changed' as const]
    .map((list) => [list, report[list].length - details[list].length] as const)
    .filter(([, missing]) => missing > 0);
  return omitted.length === 0 ? details : { ...details, omitted: Object.fromEntries(omitted) };
}

async function toldDifferences(differences: AsyncIterable<ChangedTool>, room: Room): Promise<ChangedTool[]> {
  const told: ChangedTool[] = [];
  for await (const { name, changes } of differences) {
    const fitting = room.takes({ name, changes: [] }) ? room.fitting(changes) : [];
    if (fitting.length > 0) {
      told.push({ name, changes: fitting });
    }
    if (fitting.length < changes.length) {
      break;
    }
  }
  return told;
}

/** Bytes of JSON that are left. */
class Room {
  constructor(private bytes: number) {}

  half(): Room {
    return new Room(this.bytes / 2);
  }

  /** Whether `value` still fits; it takes its place then. */
  takes(value: unknown): boolean {
    // And the comma.
    const bytes = Buffer.byteLength(JSON.stringify(value)) + 1;
    if (bytes > this.bytes) {
      return false;
    }
    this.bytes -= bytes;
    return true;
  }

  /** The first entries, as many as fit. */
  fitting<Entry>(entries: Entry[]): Entry[] {
    const excess = entries.findIndex((entry) => !this.takes(entry));
    return excess === -1 ? entries : entries.slice(0, excess);
  }
}
