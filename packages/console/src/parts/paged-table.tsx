import type { JSX } from 'preact';
import type { Pages } from '../live/use-pages.js';
import { Empty, Pager } from './notes.js';
import { Table, type Column, type Selection } from './table.js';

interface PagedTableProps<Row> {
  /** Caption for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  pages: Pages<Row>;
  keyOf: (row: Row) => string;
  selection?: Selection | undefined;
  /** Text for an empty list, shown once it is loaded. */
  none: string;
}

/** Table of a paged list, with a button for more. */
export function PagedTable<Row>(props: PagedTableProps<Row>): JSX.Element {
  const { pages, none, ...table } = props;
  const isEmpty = !pages.isLoading && pages.error === undefined;
  return (
    <>
      <Table {...table} rows={pages.items} empty={isEmpty ? <Empty title={none} /> : <></>} />
      <Pager pages={pages} />
    </>
  );
}
