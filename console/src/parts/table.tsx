import type { ComponentChildren, JSX } from 'preact';
import { texts } from '../texts/texts.js';
import { classNames } from './class-names.js';

/** A column of a table. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** Left out where there is little room. */
  isExtra?: boolean;
  /** Never broken over lines. */
  isTight?: boolean;
}

/** Which rows are chosen, for what is done to several at once. */
export interface Selection {
  keys: ReadonlySet<string>;
  change: (keys: ReadonlySet<string>) => void;
}

interface TableProps<Row> {
  /** What the table lists; read by screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The first column names a row; a link in it leads on. */
  selection?: Selection | undefined;
  /** In place of the rows where there are none. */
  empty?: ComponentChildren;
}

/** A table of rows, which scrolls sideways where there is no room for it. */
export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { caption, columns, rows, keyOf, selection, empty } = props;
  if (rows.length === 0 && empty !== undefined) {
    return <>{empty}</>;
  }
  return (
    // Who has no mouse scrolls it with the keys, so it takes the focus.
    <div class="table-frame" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {selection !== undefined && <SelectAll selection={selection} keys={rows.map(keyOf)} />}
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {selection !== undefined && <SelectOne selection={selection} of={keyOf(row)} />}
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
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
    <th scope="col" class="is-tight">
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
    <td class="is-tight">
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

function classOf<Row>({ isNumber, isExtra, isTight }: Column<Row>): string {
  return classNames(isNumber && 'is-number', isExtra && 'is-extra', isTight && 'is-tight');
}
