/**
 * Reads a list page by page, as far as the caller goes on.
 *
 *     for await (const { builds } of pagesOf((cursor) => svc.listBuilds({ path, query: cursor }))) { … }
 *
 * @param read is given what the query says of the page: `before`, which is `next` of the page before it, and nothing for the first one
 * @throws what `read` is rejected with
 */
export async function* pagesOf<Page extends { next: Cursor | null }, Cursor extends string | number = string>(
  read: (cursor: { before?: Cursor }) => Promise<{ data: Page }>,
): AsyncGenerator<Page, void, undefined> {
  for (let before: Cursor | null | undefined; before !== null;) {
    const { data }: { data: Page } = await read(before === undefined ? {} : { before });
    yield data;
    before = data.next;
  }
}
