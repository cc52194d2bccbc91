import { byteLength } from '../json/byte-length.js';
import { parseExactly, refuseRounded, RoundedIntegerError } from '../json/exact-json.js';
import { isJsonObject, jsonDepth, type JsonValue, hasMoreValues } from '../json/json.js';
import { isPrototypeKey } from '../paths/data-paths.js';
import { ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS, WorkBudget, type TemplateLimits } from './expression-limits.js';
import { CompiledTemplate, Rendering } from './template.js';
import { ReferenceBudget } from './template-reference.js';
import { endOfReference, OPENING } from './template-scanner.js';

type Data = Readonly<Record<string, unknown>>;
type Fill = (data: Data, rendering: Rendering) => unknown;
/** A part without references. Every rendering reuses it, but pays as if it were created. */
interface Constant {
  readonly value: unknown;
  readonly parts: number;
  readonly bytes: number;
}
type Part = Fill | Constant;

const MAX_DEPTH = 64;
/** Cost of an object member in parts; creating an object is slower than a list. */
const MEMBER_PARTS = 2;

/** Parsed JSON with `${…}` references in strings or in place of values. */
export class CompiledJsonTemplate {
  readonly roots: readonly string[];
  private readonly fill: Fill;
  private readonly found = new Set<string>();
  private readonly budget = new ReferenceBudget();

  constructor(
    source: JsonValue,
    private readonly limits: TemplateLimits,
  ) {
    const value: unknown = typeof source === 'string' ? parseJson(source) : source;
    if (hasMoreValues(value, EXPRESSION_LIMITS.templateValues)) {
      throw new ExpressionSyntaxError(
        `A JSON template has at most ${EXPRESSION_LIMITS.templateValues} values.`,
      );
    }
    if (jsonDepth(value) > MAX_DEPTH) {
      throw new ExpressionSyntaxError(`A JSON template has at most ${MAX_DEPTH} levels.`);
    }
    this.fill = fillOf(this.compile(value));
    this.roots = [...this.found];
  }

  /**
   * Renders the JSON value with every reference replaced. It may share parts with the data, so do not modify it.
   * @param budget as for `CompiledTemplate.render`
   * @throws ExpressionError when a reference is an expression that fails, or the value becomes too large
   */
  render(data: Data, budget = new WorkBudget()): { value: unknown; missing: string[] } {
    const rendering = new Rendering(this.limits, budget);
    const value = this.fill(data, rendering);
    return { value, missing: [...rendering.missing] };
  }

  private compile(value: unknown): Part {
    if (typeof value === 'string') {
      return this.compileString(value);
    }
    if (Array.isArray(value)) {
      return this.compileArray(value);
    }
    return isJsonObject(value) ? this.compileObject(value) : { value, parts: 0, bytes: 0 };
  }

  private compileString(source: string): Part {
    if (!source.includes(OPENING)) {
      return { value: source, parts: 1, bytes: byteLength(source) };
    }
    const template = new CompiledTemplate(source, this.limits, this.budget);
    template.roots.forEach((root) => this.found.add(root));
    return (data, rendering) => template.valueWith(data, rendering);
  }

  private compileArray(elements: readonly unknown[]): Part {
    const parts = elements.map((element) => this.compile(element));
    return containerPart(elements, parts, parts.length, (values) => values);
  }

  private compileObject(object: Readonly<Record<string, unknown>>): Part {
    const names = Object.keys(object);
    const prototypeKey = names.find(isPrototypeKey);
    if (prototypeKey !== undefined) {
      throw new ExpressionSyntaxError(`${prototypeKey} is a name that no field may have.`);
    }
    const parts = names.map((name) => this.compile(object[name]));
    return containerPart(object, parts, MEMBER_PARTS * parts.length, (values) =>
      Object.fromEntries(values.map((value, index) => [names[index], value])),
    );
  }
}

/** Compiles a list or object. @param source reused when it has no references */
function containerPart(
  source: unknown,
  parts: readonly Part[],
  cost: number,
  build: (values: unknown[]) => unknown,
): Part {
  if (parts.every(isConstant)) {
    return {
      value: source,
      parts: parts.reduce((sum, part) => sum + part.parts, cost),
      bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    };
  }
  const fills = parts.map(fillOf);
  return (data, rendering) => {
    rendering.countParts(cost);
    return build(fills.map((fill) => fill(data, rendering)));
  };
}

function isConstant(part: Part): part is Constant {
  return typeof part !== 'function';
}

function fillOf(part: Part): Fill {
  if (!isConstant(part)) {
    return part;
  }
  return (_data, rendering) => {
    rendering.countParts(part.parts);
    rendering.count(part.bytes);
    return part.value;
  };
}

function parseJson(source: string): unknown {
  if (source.length > EXPRESSION_LIMITS.templateLength) {
    throw new ExpressionSyntaxError(`A template has at most ${EXPRESSION_LIMITS.templateLength} characters.`);
  }
  try {
    return parseExactly(quoteReferences(source), refuseRounded);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const isOwn = error instanceof RoundedIntegerError || error instanceof ExpressionSyntaxError;
    throw new ExpressionSyntaxError(isOwn ? message : `The template is not JSON: ${message.slice(0, 200)}`);
  }
}

/** Quotes references used as whole values, since a string with a single reference means its value. */
function quoteReferences(source: string): string {
  let text = '';
  let position = 0;
  while (position < source.length) {
    const end = endOfToken(source, position);
    const token = source.slice(position, end);
    text += token.startsWith('${') ? JSON.stringify(token) : token;
    position = end;
  }
  return text;
}

/** Returns the end of the string, reference or run of other characters that starts here. */
function endOfToken(source: string, start: number): number {
  if (source[start] === '"') {
    let position = start + 1;
    while (position < source.length && source[position] !== '"') {
      position += source[position] === '\\' ? 2 : 1;
    }
    return position + 1;
  }
  if (source.startsWith('${', start)) {
    return endOfReference(source, start) + 1;
  }
  const length = source.slice(start + 1).search(/"|\$\{/);
  return length < 0 ? source.length : start + 1 + length;
}
