import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { texts } from '../texts/texts.js';
import { Button } from './button.js';
import { TextField } from './fields.js';
import { Table, type Column } from './table.js';

/** As many rows are drawn at first, and more with each click. */
const CHUNK = 100;
/** Who sees all at a glance needs no filter. */
const FILTERED_FROM = 12;

interface LongTableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Where the filter looks. */
  textOf: (row: Row) => string;
  empty: ComponentChildren;
}

/** A table of a list that comes whole: it is filtered here, and drawn in part. */
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
