/** Picks the non-empty parameters with these names from a query. */
export function queryValues<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = query.get(name);
    if (value !== null && value !== '') {
      found[name] = value;
    }
  }
  return found;
}

/** Converts `from` and `to` of a query from local time to ISO 8601; drops invalid ones. */
export function queryTimes(query: URLSearchParams): { from?: string; to?: string } {
  const { from, to } = queryValues(query, ['from', 'to']);
  return { ...timeOf('from', from), ...timeOf('to', to) };
}

function timeOf(name: 'from' | 'to', text: string | undefined): { from?: string; to?: string } {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? {} : { [name]: at.toISOString() };
}
