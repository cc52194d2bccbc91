import type { HistoryEvent } from '../../clients/typescript/src/index.js';
import { printable } from '../common/printable.js';

/** The node of an event: an element without a name is told by its id in the BPMN file. */
export function nodeOf({ nodeName, bpmnElementId }: HistoryEvent): string | null {
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

/**
 * Rows as lines with aligned columns, for people.
 * @param longest characters after which a cell is cut
 */
export function table(
  headings: string[],
  rows: (string | number | null | undefined)[][],
  longest = CELL,
): string[] {
  const cells = [
    headings,
    ...rows.map((row) =>
      row.map((cell) => cut(printable(String(cell ?? '-').replaceAll(/\s+/g, ' ')), longest)),
    ),
  ];
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
