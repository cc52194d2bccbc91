import type { JSX } from 'preact';
import type { Pages } from '../live/use-pages.js';
import { Empty, Pager } from './notes.js';
import { Table, type Column, type Selection } from './table.js';

interface PagedTableProps<Row> {
  /** What the table lists; read by screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  pages: Pages<Row>;
  keyOf: (row: Row) => string;
  selection?: Selection | undefined;
  /** What is said where there is nothing; not before that is known. */
  none: string;
}

/** A list that is read page by page, with what leads on at its foot. */
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
