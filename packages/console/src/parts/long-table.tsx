import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { TextField } from './fields.js';
import { Table, type Column } from './table.js';

/** Number of rows shown at first and added by each click. */
const CHUNK = 100;
/** Number of rows from which the filter is shown. */
const FILTERED_FROM = 12;

interface LongTableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Text of a row that the filter searches. */
  textOf: (row: Row) => string;
  empty: ComponentChildren;
}

/** Table of a complete list, with a local filter and incremental rendering. */
export function LongTable<Row>(props: LongTableProps<Row>): JSX.Element {
  const { caption, columns, rows, keyOf, textOf, empty } = props;
  const [filter, setFilter] = useState('');
  const [shown, setShown] = useState(CHUNK);
  const wanted = filter.trim().toLowerCase();
  const found = wanted === '' ? rows : rows.filter((row) => textOf(row).toLowerCase().includes(wanted));
  if (rows.length === 0) {
    return <>{empty}</>;
  }
  return (
    <>
      {rows.length >= FILTERED_FROM && (
        <div class="table-filter">
          <TextField
            label={texts.parts.filter}
            type="search"
            value={filter}
            onChange={(text) => {
              setFilter(text);
              setShown(CHUNK);
            }}
          />
        </div>
      )}
      <Table
        caption={caption}
        columns={columns}
        rows={found.slice(0, shown)}
        keyOf={keyOf}
        empty={<p class="waiting">{texts.parts.noneFound}</p>}
      />
      <div class="pager">
        <span class="quiet">{texts.parts.shownOf(Math.min(shown, found.length), rows.length)}</span>
        {found.length > shown && <Button onClick={() => setShown(shown + CHUNK)}>{texts.parts.more}</Button>}
      </div>
    </>
  );
}
