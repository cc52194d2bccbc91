import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';
import { PATH_ID, pathIdRule } from './patterns.decorators.js';

type Ids<Names extends readonly string[]> = { [Index in keyof Names]: string };

/**
 * The named identifiers of a path, for guards, which run before the validation pipe.
 * @returns the values in the order of the names
 * @throws ValidationFailedError naming each that breaks the identifier rule
 */
export function requirePathIds<const Names extends readonly string[]>(
  params: Readonly<Record<string, unknown>>,
  names: Names,
): Ids<Names> {
  const values = names.map((name) => String(params[name]));
  const problems: FieldProblem[] = names.flatMap((field, index) => {
    const value = values[index] ?? '';
    return PATH_ID.test(value) ? [] : [{ field, rule: pathIdRule(value) }];
  });
  if (problems.length > 0) {
    throw new ValidationFailedError(problems);
  }
  return values as Ids<Names>;
}
