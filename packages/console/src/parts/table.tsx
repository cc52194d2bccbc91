import type { ComponentChildren, JSX } from 'preact';
import { texts } from '../texts/texts.js';
import { classNames } from './class-names.js';

/** Column of a table. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Align right. */
  isNumber?: boolean;
  /** Hide on narrow screens. */
  isExtra?: boolean;
  /** Do not wrap. */
  isTight?: boolean;
  /** Take the remaining width, for sentences. */
  isText?: boolean;
}

/** Selected rows, for bulk actions. */
export interface Selection {
  keys: ReadonlySet<string>;
  change: (keys: ReadonlySet<string>) => void;
}

interface TableProps<Row> {
  /** Caption for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection?: Selection | undefined;
  /** Content for an empty table. */
  empty?: ComponentChildren;
}

/**
 * Table that scrolls sideways on narrow screens and shows rows as cards on very narrow ones. The explicit roles keep it accessible
 * as cards, for which CSS removes the native table semantics.
 */
export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { caption, columns, rows, keyOf, selection, empty } = props;
  if (rows.length === 0 && empty !== undefined) {
    return <>{empty}</>;
  }
  return (
    // Focusable, so that it can be scrolled by keyboard.
    <div class="table-frame" role="region" aria-label={caption} tabIndex={0}>
      <table class="rows" role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {selection !== undefined && <SelectAll selection={selection} keys={rows.map(keyOf)} />}
            {columns.map((column) => (
              <th key={column.title} scope="col" role="columnheader" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {selection !== undefined && <SelectOne selection={selection} of={keyOf(row)} />}
              {columns.map((column, at) => (
                <td key={column.title} role="cell" data-title={column.title} class={classOf(column, at)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SelectAll({ selection, keys }: { selection: Selection; keys: readonly string[] }): JSX.Element {
  const isAll = keys.length > 0 && keys.every((key) => selection.keys.has(key));
  return (
    <th scope="col" role="columnheader" class="is-tight is-choice">
      <input
        type="checkbox"
        aria-label={texts.parts.selectAll}
        checked={isAll}
        onChange={() => selection.change(new Set(isAll ? [] : keys))}
      />
    </th>
  );
}

function SelectOne({ selection, of }: { selection: Selection; of: string }): JSX.Element {
  const { keys, change } = selection;
  const next = new Set(keys);
  return (
    <td role="cell" class="is-tight">
      <input
        type="checkbox"
        aria-label={texts.parts.select(of)}
        checked={keys.has(of)}
        onChange={() => {
          if (!next.delete(of)) {
            next.add(of);
          }
          change(next);
        }}
      />
    </td>
  );
}

function classOf<Row>({ isNumber, isExtra, isTight, isText }: Column<Row>, at?: number): string {
  return classNames(
    at === 0 && 'is-name',
    isNumber && 'is-number',
    isExtra && 'is-extra',
    isTight && 'is-tight',
    isText && 'is-text',
  );
}
