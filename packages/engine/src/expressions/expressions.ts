import type { JsonValue } from '../json/json.js';
import { CompiledExpression } from './cel-expression.js';
import { DEFAULT_TEMPLATE_LIMITS, type TemplateLimits } from './expression-limits.js';
import { CompiledJsonTemplate } from './json-template.js';
import { CompiledTemplate } from './template.js';

/**
 * Compiles a CEL expression (cel.dev) over process data. Each member of the data is a variable; `input` is all data, unless the
 * data has a member `input`.
 *
 * Differences from CEL: `+ - * / %` accept an int with a double, because JSON numbers are doubles. `has(a.b)` is also false when
 * there is no `a`. A type name (`type`, `list`, `map`, …) is a member of the data unless the expression calls `type(…)`. Message
 * types are not supported.
 * @throws ExpressionSyntaxError when it does not parse, exceeds a limit, calls an unknown function, or reads a prototype key
 */
export function compileExpression(source: string): CompiledExpression {
  return new CompiledExpression(source);
}

/**
 * Compiles text with `${…}` references: paths (`client.addresses[0].city`, `fields["Credit Score"]`) or CEL. `$${` is a
 * literal `${`.
 * @throws ExpressionSyntaxError when a reference is not closed, empty, or neither a path nor CEL
 */
export function compileTemplate(
  source: string,
  limits: TemplateLimits = DEFAULT_TEMPLATE_LIMITS,
): CompiledTemplate {
  return new CompiledTemplate(source, limits);
}

/**
 * Compiles JSON text, or a JSON value, with `${…}` in its strings; a string source is always JSON text. A reference that makes up a
 * whole string, or is written without quotes, keeps the type of its value (null when missing). Within a longer string it becomes
 * text. Member names are never replaced. In JSON text, use single quotes inside a reference: `"${fields['Credit Score']}"`.
 * @throws ExpressionSyntaxError when it is not JSON, or as for `compileTemplate`
 */
export function compileJsonTemplate(
  source: JsonValue,
  limits: TemplateLimits = DEFAULT_TEMPLATE_LIMITS,
): CompiledJsonTemplate {
  return new CompiledJsonTemplate(source, limits);
}
