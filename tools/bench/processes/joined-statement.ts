/** Returns one statement for the rows of several requests, given the ids of each request. */
export type JoinedStatement = (requests: readonly (readonly string[])[]) => string;

/** Returns a text with the ids of a request inserted. */
type Text = (ids: readonly string[]) => string;

const INSERT = /^(INSERT .*? VALUES )(\(.*)$/s;
const SELECT = /^(SELECT .* WHERE .*?)(\w+) = ('[^']*'|\d+)( FOR UPDATE.*)?$/s;
const UPDATE = /^(UPDATE \w+ SET )(.*)( WHERE )((id = \d+).*)$/s;
const ASSIGNMENT = /(\w+) = ((?:'(?:[^'\\]|\\.)*'|[^,'])+)(?:, |$)/gs;

/**
 * Turns the statement of a single request into one for many, as the service does: rows of one insert, values of one `IN`,
 * cases of one update.
 * @param ids ids of the recorded request
 * @throws Error for a statement that cannot be joined
 */
export function joinStatement(recorded: string, ids: readonly string[]): JoinedStatement {
  const text = (part = ''): Text => textOf(part, ids);
  const [, insertInto = '', tuples] = INSERT.exec(recorded) ?? [];
  if (tuples !== undefined) {
    return (requests) => insertInto + requests.map(text(tuples)).join(', ');
  }
  const [, select = '', column = '', value, lock = ''] = SELECT.exec(recorded) ?? [];
  if (value !== undefined) {
    return joinValues(recorded, {
      head: `${select}${column} IN (`,
      value: text(value),
      tail: `)${lock}`,
      text,
    });
  }
  const [, update = '', assignments = '', where = '', condition, key = ''] = UPDATE.exec(recorded) ?? [];
  if (condition !== undefined) {
    const changes = [...assignments.matchAll(ASSIGNMENT)].map(([, name = '', assigned = '']) =>
      joinCases(name, text(assigned), text(key.slice('id = '.length)), textHolds(assigned, ids)),
    );
    const which = text(condition);
    return (requests) =>
      update +
      changes.map((change) => change(requests)).join(', ') +
      where +
      requests.map((request) => `(${which(request)})`).join(' OR ');
  }
  if (!/^(START TRANSACTION|BEGIN|COMMIT)$/.test(recorded)) {
    throw new Error(`Cannot join the statement: ${recorded}`);
  }
  return () => recorded;
}

function joinValues(
  recorded: string,
  { head, value, tail, text }: { head: string; value: Text; tail: string; text: (part: string) => Text },
): JoinedStatement {
  const single = text(recorded);
  return (requests) =>
    requests.length === 1 ? single(requests[0]!) : head + requests.map(value).join(', ') + tail;
}

function joinCases(name: string, assigned: Text, key: Text, differs: boolean): JoinedStatement {
  return (requests) =>
    requests.length === 1 || !differs
      ? `${name} = ${assigned(requests[0]!)}`
      : `${name} = CASE id ${requests.map((request) => `WHEN ${key(request)} THEN ${assigned(request)}`).join(' ')} END`;
}

function pattern(ids: readonly string[]): RegExp {
  return new RegExp(`(?<![\\w-])(${ids.join('|')})(?![\\w-])`);
}

function textHolds(text: string, ids: readonly string[]): boolean {
  return pattern(ids).test(text);
}

function textOf(recorded: string, ids: readonly string[]): Text {
  // Texts alternating with positions in `ids`.
  const parts = recorded
    .split(pattern(ids))
    .map((part, position) => (position % 2 === 1 ? ids.indexOf(part) : part));
  return (others) => parts.map((part) => (typeof part === 'number' ? others[part] : part)).join('');
}
