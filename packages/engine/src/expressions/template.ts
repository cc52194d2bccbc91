import { byteLength } from '../json/byte-length.js';
import { jsonSize } from '../json/json.js';
import { ExpressionError, ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS, WorkBudget, type TemplateLimits } from './expression-limits.js';
import { parseReference, ReferenceBudget, type TemplateReference } from './template-reference.js';
import { splitTemplate } from './template-scanner.js';

type Data = Readonly<Record<string, unknown>>;
type Segment = string | TemplateReference;

/** Inserted bytes and template parts per step. Objects with many members cost most. Measured. */
const BYTES_A_STEP = 16;
const PARTS_A_STEP = 4;

/** Cost and missing references of one rendering, shared by the templates of one document. */
export class Rendering {
  readonly missing = new Set<string>();
  private bytes = 0;

  /** @param budget pays for expressions, parts and bytes */
  constructor(
    private readonly limits: TemplateLimits,
    readonly budget: WorkBudget,
  ) {}

  /** @throws ExpressionError when the budget is exhausted */
  countParts(parts: number): void {
    this.budget.charge(parts / PARTS_A_STEP);
  }

  /** @throws ExpressionError when the total is too large */
  count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.maxBytes) {
      throw new ExpressionError(
        `The rendered template is longer than ${this.limits.maxBytes} bytes with this data.`,
        'limit',
      );
    }
    this.budget.charge(bytes / BYTES_A_STEP);
  }
}

/** Parsed text with `${…}` references to process data. */
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
   * Replaces every reference: strings are inserted as they are, other values as JSON, missing ones as empty text. Inserted text is
   * never expanded again.
   * @param budget charged for expressions and each inserted byte
   * @returns the text, and the distinct references that were missing, as written
   * @throws ExpressionError when an expression fails for another reason, or the text becomes too long
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
   * Returns the JSON value if the whole source is one reference (null when missing), otherwise the rendered text. The value may share
   * parts with the data, so do not modify it.
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

/** Encodes an inserted value, given both as text and as in the data. */
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
