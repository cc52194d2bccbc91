/** A page of a list; `next` is the cursor of the next page, null on the last one. */
export interface Page<Item, Cursor = string> {
  readonly items: Item[];
  readonly next: Cursor | null;
}

/** Selects a page of a list: up to `limit` entries after `before`, the `next` of the previous page. */
export interface PageQuery<Cursor = string> {
  before?: Cursor;
  limit?: number;
}

/** Reads a page. It reads one more row than it returns, to find out whether there is another page. */
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
