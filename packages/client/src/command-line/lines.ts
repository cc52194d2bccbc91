import type { HistoryEvent } from '../index.js';
import { printable } from '../../../../src/platform/printable.js';

/** The node of an event: an element without a name is told by its id in the BPMN file. */
export function nodeOf({
  nodeName,
  bpmnElementId,
}: Pick<HistoryEvent, 'nodeName' | 'bpmnElementId'>): string | null {
  return nodeName ?? bpmnElementId;
}

/** What happened: an error with its code, which an error boundary event would name, and an incident with its type. */
export function eventText({ kind, data }: HistoryEvent): string {
  const what = { ERROR_THROWN: data?.['code'], INCIDENT_RAISED: data?.['type'] }[kind as string];
  return typeof what === 'string' ? `${kind} ${what}` : kind;
}

const GAP = '  ';
/** Characters of a cell. Longer texts, such as messages, would make every line of the table as long. */
const CELL = 120;

type Cell = string | number | null | undefined;

/**
 * Rows as lines with aligned columns, for people.
 * @param columns by their headings: a member of a row, or what is made of it
 * @param longest characters after which a cell is cut
 */
export function table<Row extends object>(
  rows: readonly Row[],
  columns: Record<string, keyof Row | ((row: Row) => Cell)>,
  longest = CELL,
): string[] {
  const cellOf = (row: Row, column: keyof Row | ((row: Row) => Cell)): string => {
    const cell = typeof column === 'function' ? column(row) : (row[column] as Cell);
    return cut(printable(String(cell ?? '-').replaceAll(/\s+/g, ' ')), longest);
  };
  const headings = Object.keys(columns);
  const cells = [headings, ...rows.map((row) => Object.values(columns).map((column) => cellOf(row, column)))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function cut(text: string, longest: number): string {
  const characters = [...text];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : text;
}
