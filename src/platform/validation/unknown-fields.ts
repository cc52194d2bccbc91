import { didYouMean } from '#engine/support';
import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';

const MAX_KNOWN = 30;

/**
 * Rejects query parameters that a route does not declare, and repeated ones. If a misspelt filter were ignored, the
 * response would contain everything.
 * @param repeated parameters that may be repeated
 * @throws ValidationFailedError naming each, with the most similar parameter; if there is none, it lists the known ones
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
      // The list appears only once, however many parameters are unknown.
      const list = hint === '' && !isListed ? listOf(known) : '';
      isListed ||= list !== '';
      const more = hint + list;
      return [{ field, rule: `is not a known query parameter${more === '' ? '' : `.${more}`}` }];
    }),
  );
}

/**
 * Rejects all fields of a body, for routes that take none.
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
