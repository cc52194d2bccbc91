import { didYouMean } from '#engine/support';
import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';

const MAX_KNOWN = 30;

/**
 * Refuses query parameters that a route does not know, and known ones that are given twice. Were a filter not looked at,
 * the answer would hold everything.
 * @param repeated those of them that may be given more than once
 * @throws ValidationFailedError naming each, with the name that was probably meant; the known ones where no name is near
 */
export function refuseUnknownQuery(
  query: Readonly<Record<string, unknown>>,
  known: readonly string[],
  repeated: readonly string[],
): void {
  let isListed = false;
  refuse(
    Object.entries(query).flatMap(([field, value]) => {
      if (known.includes(field)) {
        return Array.isArray(value) && !repeated.includes(field)
          ? [{ field, rule: 'must be given once' }]
          : [];
      }
      const hint = didYouMean(field, known);
      // Once is enough, whatever was sent.
      const list = hint === '' && !isListed ? listOf(known) : '';
      isListed ||= list !== '';
      const more = hint + list;
      return [{ field, rule: `is not a known query parameter${more === '' ? '' : `.${more}`}` }];
    }),
  );
}

/**
 * Refuses the fields of a body that nobody reads.
 * @throws ValidationFailedError naming each
 */
export function refuseFields(body: object): void {
  refuse(Object.keys(body).map((field) => ({ field, rule: 'is not a known field' })));
}

function refuse(problems: FieldProblem[]): void {
  if (problems.length > 0) {
    throw new ValidationFailedError(problems);
  }
}

function listOf(known: readonly string[]): string {
  const named = known.toSorted().slice(0, MAX_KNOWN);
  const rest = known.length - named.length;
  return named.length === 0 ? '' : ` Known: ${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}
