/**
 * Reads a list page by page, while the caller iterates.
 *
 *     for await (const { builds } of pagesOf((cursor) => svc.listBuilds({ path, query: cursor }))) { … }
 *
 * @param read loads a page; `before` is `next` of the previous page and missing for the first one
 * @throws errors of `read`
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
