import { byteLength } from '../json/byte-length.js';
import { jsonSize } from '../json/json.js';
import { ExpressionError, ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS, WorkBudget, type TemplateLimits } from './expression-limits.js';
import { parseReference, ReferenceBudget, type TemplateReference } from './template-reference.js';
import { splitTemplate } from './template-scanner.js';

type Data = Readonly<Record<string, unknown>>;
type Segment = string | TemplateReference;

/** Inserted bytes, and parts of a template, that one step pays for; an object of many members is what costs. Measured. */
const BYTES_A_STEP = 16;
const PARTS_A_STEP = 4;

/** What one rendering has used up and not found; several templates of one document share it. */
export class Rendering {
  readonly missing = new Set<string>();
  private bytes = 0;

  /** @param budget pays for expressions, parts and bytes */
  constructor(
    private readonly limits: TemplateLimits,
    readonly budget: WorkBudget,
  ) {}

  /** @throws ExpressionError when there is nothing left to pay with */
  countParts(parts: number): void {
    this.budget.charge(parts / PARTS_A_STEP);
  }

  /** @throws ExpressionError when all together is too much */
  count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.maxBytes) {
      throw new ExpressionError(
        `The template becomes longer than ${this.limits.maxBytes} bytes with this data.`,
        'limit',
      );
    }
    this.budget.charge(bytes / BYTES_A_STEP);
  }
}

/** Text with `${…}` references to process data, parsed once. */
export class CompiledTemplate {
  readonly roots: readonly string[];
  private readonly segments: readonly Segment[];
  private readonly whole: TemplateReference | undefined;

  constructor(
    readonly source: string,
    private readonly limits: TemplateLimits,
    budget = new ReferenceBudget(),
  ) {
    if (source.length > EXPRESSION_LIMITS.templateLength) {
      throw new ExpressionSyntaxError(
        `A template has at most ${EXPRESSION_LIMITS.templateLength} characters.`,
      );
    }
    this.segments = splitTemplate(source).map((part) =>
      part.kind === 'text' ? part.text : parseReference(part.written, budget),
    );
    const references = this.segments.filter((segment) => typeof segment !== 'string');
    this.roots = [...new Set(references.flatMap(({ roots }) => roots))];
    this.whole = this.segments.length === 1 ? references[0] : undefined;
  }

  /**
   * The text with every reference replaced: strings as they are, other values as JSON, a missing path by nothing. Inserted text
   * is never expanded again.
   * @param budget for expressions and each inserted byte
   * @returns the text, and the references that led nowhere, as they are written, each once
   * @throws ExpressionError when a reference is an expression that fails otherwise, or the text becomes too long
   */
  render(
    data: Data,
    budget = new WorkBudget(),
    encode: Encode = asItIs,
  ): { text: string; missing: string[] } {
    const rendering = new Rendering(this.limits, budget);
    const text = this.textOf(data, rendering, encode);
    return { text, missing: [...rendering.missing] };
  }

  /**
   * When the whole source is one reference, its value as JSON (null when missing); else the rendered text. The value may share
   * its parts with the data, so it is to be read only.
   * @throws ExpressionError as for `render`
   */
  valueWith(data: Data, rendering: Rendering): unknown {
    if (this.whole === undefined) {
      return this.textOf(data, rendering);
    }
    const value = resolved(this.whole, data, rendering) ?? null;
    rendering.count(jsonSize(value));
    return value;
  }

  private textOf(data: Data, rendering: Rendering, encode: Encode = asItIs): string {
    let text = '';
    rendering.countParts(this.segments.length);
    for (const segment of this.segments) {
      const inserted =
        typeof segment === 'string' ? segment : written(resolved(segment, data, rendering), encode);
      rendering.count(byteLength(inserted));
      text += inserted;
    }
    return text;
  }
}

/** Writes a value into a text: as text, and as it is in the data. */
export type Encode = (text: string, value: unknown) => string;

const asItIs: Encode = (text) => text;

function resolved(reference: TemplateReference, data: Data, rendering: Rendering): unknown {
  const value = reference.resolve(data, rendering.budget);
  if (value === undefined) {
    rendering.missing.add(reference.written);
  }
  return value;
}

function written(value: unknown, encode: Encode): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  return encode(typeof value === 'string' ? value : text, value);
}
