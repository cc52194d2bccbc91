import { didYouMean } from '../nearest-name.js';
import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';

/**
 * Refuses query parameters that a route does not know, and known ones that are given twice: a filter that is not looked
 * at would answer everything.
 * @param query parameters as they were sent, by their names
 * @param known names that the route reads
 * @throws ValidationFailedError naming each, with the name that was probably meant
 */
export function refuseUnknownQuery(query: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  refuse(
    Object.entries(query).flatMap(([field, value]) => {
      if (!known.includes(field)) {
        return [{ field, rule: unknownRule(field, known) }];
      }
      return Array.isArray(value) ? [{ field, rule: 'must be given once' }] : [];
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

function unknownRule(field: string, known: readonly string[]): string {
  const hint = didYouMean(field, known);
  return `is not a known query parameter${hint === '' ? '' : `.${hint}`}`;
}
