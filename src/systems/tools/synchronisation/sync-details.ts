import type { ChangedTool, SyncReport } from '../model/tool.types.js';

/** Details of a synchronisation in the audit log. */
export interface SyncDetails extends Omit<SyncReport, 'changed'> {
  changed: ChangedTool[];
  /** Fields of the system that were filled. */
  fields: string[];
  /** Number of entries of each list that did not fit. */
  omitted?: Partial<Record<keyof SyncReport, number>>;
}

/** Lists of names, the most important first. */
const LISTS = ['disabledForReview', 'removed', 'returned', 'added', 'takenOver'] as const;
/** Bytes reserved for member names, brackets and counts. */
const FRAME_BYTES = 512;

/**
 * Summarises a synchronisation in at most `maxBytes` of JSON: differences of changed tools up to half of it, then names.
 * @param differences changed tools in the order of the report; read only while there is room
 */
export async function syncDetails(
  report: SyncReport,
  fields: string[],
  differences: AsyncIterable<ChangedTool>,
  maxBytes: number,
): Promise<SyncDetails> {
  const room = new Room(maxBytes - FRAME_BYTES);
  const detailed = await fittingDifferences(differences, room.half());
  detailed.forEach((tool) => room.reserve(tool));
  const bare = report.changed.slice(detailed.length).map((name) => ({ name, changes: [] }));
  const changed = [...detailed, ...room.fitting(bare)];
  const fitting = LISTS.map((list) => [list, room.fitting<unknown>(report[list])] as const);
  const details = { changed, ...Object.fromEntries(fitting), fields } as unknown as SyncDetails;
  const omitted = [...LISTS, 'changed' as const]
    .map((list) => [list, report[list].length - details[list].length] as const)
    .filter(([, missing]) => missing > 0);
  return omitted.length === 0 ? details : { ...details, omitted: Object.fromEntries(omitted) };
}

async function fittingDifferences(
  differences: AsyncIterable<ChangedTool>,
  room: Room,
): Promise<ChangedTool[]> {
  const tools: ChangedTool[] = [];
  for await (const { name, changes } of differences) {
    const fitting = room.reserve({ name, changes: [] }) ? room.fitting(changes) : [];
    if (fitting.length > 0) {
      tools.push({ name, changes: fitting });
    }
    if (fitting.length < changes.length) {
      break;
    }
  }
  return tools;
}

/** Remaining bytes of JSON. */
class Room {
  constructor(private bytes: number) {}

  half(): Room {
    return new Room(this.bytes / 2);
  }

  /** Reserves room for a value. @returns false when it does not fit */
  reserve(value: unknown): boolean {
    // One more byte for the comma.
    const bytes = Buffer.byteLength(JSON.stringify(value)) + 1;
    if (bytes > this.bytes) {
      return false;
    }
    this.bytes -= bytes;
    return true;
  }

  /** Returns as many of the first entries as fit. */
  fitting<Entry>(entries: Entry[]): Entry[] {
    const excess = entries.findIndex((entry) => !this.reserve(entry));
    return excess === -1 ? entries : entries.slice(0, excess);
  }
}
