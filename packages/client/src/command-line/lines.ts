import type { HistoryEvent } from '../index.js';
import { printable } from '../../../../src/platform/printable.js';

/** Returns the node of an event, or the id of the BPMN element if it has no name. */
export function nodeOf({
  nodeName,
  bpmnElementId,
}: Pick<HistoryEvent, 'nodeName' | 'bpmnElementId'>): string | null {
  return nodeName ?? bpmnElementId;
}

/** Describes an event: errors with their code (as in error boundary events), incidents with their type. */
export function eventText({ kind, data }: HistoryEvent): string {
  const what = { ERROR_THROWN: data?.['code'], INCIDENT_RAISED: data?.['type'] }[kind as string];
  return typeof what === 'string' ? `${kind} ${what}` : kind;
}

const GAP = '  ';
/** Maximum length of a cell. A long text, such as a message, would widen every line of the table. */
const CELL = 120;

type Cell = string | number | null | undefined;

/**
 * Formats rows as lines with aligned columns.
 * @param columns by heading: a member of the row, or a function of it
 * @param longest length after which cells are cut
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
