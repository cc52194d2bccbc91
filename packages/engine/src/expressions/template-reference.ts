import { InvalidDataPathError, childOf, parsePath, type DataPath } from '../paths/data-paths.js';
import { CompiledExpression, variableOf } from './cel-expression.js';
import { checkOutline } from './cel-outline.js';
import { DATA_ALIAS } from './cel-source.js';
import { ExpressionError, ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS, type WorkBudget } from './expression-limits.js';

type Data = Readonly<Record<string, unknown>>;

/** A reference between `${` and `}`. */
export interface TemplateReference {
  /** Source text, trimmed. */
  readonly written: string;
  readonly roots: readonly string[];
  /**
   * Returns the value, or undefined if it is missing.
   * @throws ExpressionError when an expression fails for another reason
   */
  resolve(data: Data, budget: WorkBudget): unknown;
}

/** A plain path, `a.b[0]["any name"]`, as most references are. Names may be reserved words of CEL. */
const PATH = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*|\[(\d+|"[^"\\]+"|'[^'\\]+')\])*$/u;
const LITERAL = /^(true|false|null)$/;

/** Returns the names in a reference that is a path, without indexes; undefined if it is not a path. */
export function namesInPath(written: string): string[] | undefined {
  if (!PATH.test(written) || LITERAL.test(written)) {
    return undefined;
  }
  return stepsOf(written).filter((step) => typeof step === 'string');
}

/** Parsing budget for all references of one template or JSON template. */
export class ReferenceBudget {
  private references = 0;
  private length = 0;
  private symbols = 0;

  /** @throws ExpressionSyntaxError when they are too many */
  countReference(): void {
    this.references += 1;
    if (this.references > EXPRESSION_LIMITS.references) {
      throw new ExpressionSyntaxError(`A template has at most ${EXPRESSION_LIMITS.references} references.`);
    }
  }

  /** @throws ExpressionSyntaxError when they would take too long to parse */
  countExpression(source: string): void {
    const { referencesLength, referencesSymbols } = EXPRESSION_LIMITS;
    this.length += source.length;
    if (this.length > referencesLength) {
      throw new ExpressionSyntaxError(
        `The expressions of a template have at most ${referencesLength} characters together.`,
      );
    }
    this.symbols += checkOutline(source);
    if (this.symbols > referencesSymbols) {
      throw new ExpressionSyntaxError(
        `The expressions of a template have at most ${referencesSymbols} names, operators and brackets together.`,
      );
    }
  }
}

/** @throws ExpressionSyntaxError when it is neither a path nor CEL, or exceeds the budget */
export function parseReference(written: string, budget: ReferenceBudget): TemplateReference {
  budget.countReference();
  if (written === '') {
    throw new ExpressionSyntaxError('A reference ${} is empty.');
  }
  if (PATH.test(written) && !LITERAL.test(written)) {
    return pathReference(written);
  }
  budget.countExpression(written);
  return celReference(written);
}

function pathReference(written: string): TemplateReference {
  const [root, ...steps] = stepsOf(written);
  const name = String(root);
  const [first] = steps;
  return {
    written,
    roots: [name === DATA_ALIAS && typeof first === 'string' ? first : name],
    resolve: (data) => {
      let value = variableOf(data, name);
      for (const step of steps) {
        value = childOf(value, step);
      }
      return value;
    },
  };
}

function stepsOf(written: string): DataPath {
  try {
    return parsePath(written);
  } catch (error) {
    throw error instanceof InvalidDataPathError ? new ExpressionSyntaxError(error.message) : error;
  }
}

function celReference(written: string): TemplateReference {
  const expression = new CompiledExpression(written);
  return {
    written,
    roots: expression.roots,
    resolve: (data, budget) => {
      try {
        return expression.evaluate(data, budget);
      } catch (error) {
        if (error instanceof ExpressionError && error.reason === 'missing') {
          return undefined;
        }
        throw error;
      }
    },
  };
}
