import type { JsonValue } from '../json/json.js';
import { CompiledExpression } from './cel-expression.js';
import { DEFAULT_TEMPLATE_LIMITS, type TemplateLimits } from './expression-limits.js';
import { CompiledJsonTemplate } from './json-template.js';
import { CompiledTemplate } from './template.js';

/**
 * Compiles a CEL expression (cel.dev) over process data. Each member of the data is a variable; `input` is all of it, unless
 * the data has a member `input`, which then wins.
 *
 * Beyond CEL, `+ - * / %` take an int and a double together, because every number of JSON is a double. `has(a.b)` is also false
 * when there is no `a`. A name of a type (`type`, `list`, `map`, …) is a member of the data, unless the expression calls
 * `type(…)`. Not taken over: message types.
 * @throws ExpressionSyntaxError when it does not parse, is longer than 4,096 characters, nests macros more than twice, calls an
 * unknown function, or reads a prototype key
 */
export function compileExpression(source: string): CompiledExpression {
  return new CompiledExpression(source);
}

/**
 * Compiles text with `${…}` references: paths (`client.addresses[0].city`, `fields["Credit Score"]`) or CEL. `$${` is a
 * `${` that is no reference.
 * @throws ExpressionSyntaxError when a reference is not closed, empty, or neither a path nor CEL
 */
export function compileTemplate(
  source: string,
  limits: TemplateLimits = DEFAULT_TEMPLATE_LIMITS,
): CompiledTemplate {
  return new CompiledTemplate(source, limits);
}

/**
 * Compiles JSON text, or a JSON value, with `${…}` in its strings; a string is always taken as JSON text. A reference that is
 * all of a string, or stands in the text without quotes, becomes a value of its own type (null when missing). Within a longer
 * string it is text. Names of members are never replaced. In JSON text, quotes inside a reference are single ones:
 * `"${fields['Credit Score']}"`.
 * @throws ExpressionSyntaxError when it is not JSON, or as for `compileTemplate`
 */
export function compileJsonTemplate(
  source: JsonValue,
  limits: TemplateLimits = DEFAULT_TEMPLATE_LIMITS,
): CompiledJsonTemplate {
  return new CompiledJsonTemplate(source, limits);
}
