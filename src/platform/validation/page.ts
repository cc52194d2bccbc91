/** A page of a list; `next` is where to read on, null on the last page. */
export interface Page<Item, Cursor = string> {
  readonly items: Item[];
  readonly next: Cursor | null;
}

/** Which page of a list: behind `before`, the `next` of the page before, and with how many entries. */
export interface PageQuery<Cursor = string> {
  before?: Cursor;
  limit?: number;
}

/** Reads a page. One row more than are shown tells whether there are more. */
export async function readPage<Item, Cursor>(
  limit: number,
  read: (limit: number) => Promise<Item[]>,
  cursorOf: (item: Item) => Cursor,
): Promise<Page<Item, Cursor>> {
  const rows = await read(limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}
