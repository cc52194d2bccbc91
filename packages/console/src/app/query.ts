/** Members of a query that are set, by the names that the service knows. */
export function given<Name extends string>(
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

/** The moments of a query as the service takes them: a person means the time of his machine. */
export function givenTimes(query: URLSearchParams): { from?: string; to?: string } {
  const { from, to } = given(query, ['from', 'to']);
  return { ...timeOf('from', from), ...timeOf('to', to) };
}

function timeOf(name: 'from' | 'to', text: string | undefined): { from?: string; to?: string } {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? {} : { [name]: at.toISOString() };
}
