import { celError, isCelError, plan, type CelInput, type CelResult } from '@bufbuild/cel';
import { CelMeter } from './cel-meter.js';
import { DATA_ALIAS, parseCel, WHOLE_DATA, type CelSource } from './cel-source.js';
import { JsonView, toJsonValue } from './cel-values.js';
import { meteredEnvironment, NODES_A_STEP } from './cel-functions.js';
import { ExpressionError, type ExpressionFailure } from './expression.errors.js';
import { WorkBudget } from './expression-limits.js';

type Data = Readonly<Record<string, unknown>>;
type Bindings = Record<string, CelInput>;

/** The words of the library for missing data, and ours. */
const MISSING = /^(field not found|index .+ out of bounds|unknown variable)/;

/** A CEL expression, parsed and checked once. It keeps nothing between evaluations; callers cache it. */
export class CompiledExpression {
  /** Names of the process data it reads, without those of its macros. `input.amount` counts as `amount`. */
  readonly roots: readonly string[];
  private readonly meter: CelMeter;
  private readonly variables: CelSource['variables'];
  private readonly price: number;
  private readonly run: (bindings: Bindings) => CelResult;
  /** An error value in place of a variable says which one is missing; made once, since errors are slow to make. */
  private readonly absent: Readonly<Record<string, ReturnType<typeof celError>>>;

  constructor(readonly source: string) {
    const parsed = parseCel(source);
    this.meter = new CelMeter(source);
    this.roots = parsed.roots;
    this.variables = parsed.variables;
    this.price = parsed.nodes / NODES_A_STEP;
    this.run = plan(meteredEnvironment(this.meter), parsed.expr);
    this.absent = Object.fromEntries(
      parsed.variables.map((name) => [name, celError(`unknown variable: ${name}`)]),
    );
  }

  /**
   * The value as plain JSON.
   * @param budget shared with others; without it the expression may do `EXPRESSION_LIMITS.steps` by itself
   * @throws ExpressionError for anything that goes wrong: a missing field, types that do not fit, a limit
   */
  evaluate(data: Data, budget = new WorkBudget()): unknown {
    try {
      this.meter.begin(budget);
      this.meter.charge(this.price);
      const result = withoutStacks(() => this.run(this.bindingsOf(data)));
      if (isCelError(result)) {
        throw result;
      }
      return toJsonValue(result, this.meter);
    } catch (error) {
      throw this.errorOf(error);
    } finally {
      this.meter.end();
    }
  }

  /** @throws ExpressionError as for `evaluate`, and when the value is not a boolean: an error is never "false" */
  test(data: Data, budget?: WorkBudget): boolean {
    const value = this.evaluate(data, budget);
    if (typeof value !== 'boolean') {
      throw this.failed(`is a condition, but its value is ${kindOf(value)} and not true or false`, 'failed');
    }
    return value;
  }

  /** Only what the expression names, and own members only: nothing else can be reached. */
  private bindingsOf(data: Data): Bindings {
    const view = new JsonView(this.meter);
    const bindings = Object.create(null) as Record<string, unknown>;
    for (const name of this.variables) {
      const value = view.wrap(variableOf(data, name));
      bindings[name] = value === undefined ? this.absent[name] : value;
    }
    return bindings as Bindings;
  }

  private errorOf(error: unknown): ExpressionError {
    const cause = isCelError(error) ? error.cause : error;
    if (cause instanceof ExpressionError) {
      return this.failed(`failed: ${cause.message}`, cause.reason);
    }
    if (cause instanceof RangeError) {
      return this.failed('failed: it is nested too deeply, or makes too large a value', 'limit');
    }
    // The library does not know the length of the list: "index 5 out of bounds [0, -1)".
    const message = error instanceof Error ? error.message.slice(0, 300).replace(' [0, -1)', '') : 'unknown';
    return this.failed(`failed: ${message}`, MISSING.test(message) ? 'missing' : 'failed');
  }

  private failed(what: string, reason: ExpressionFailure): ExpressionError {
    const shown = this.source.length > 80 ? `${this.source.slice(0, 80)}…` : this.source;
    return new ExpressionError(`The expression "${shown}" ${what}`, reason, this.source);
  }
}

/** V8 only; a mere property elsewhere. */
const stacks = Error as { stackTraceLimit?: number | undefined };

/** The library makes an error for each value that is missing, also in loops; the stacks, never shown, would be the main cost. */
function withoutStacks<T>(work: () => T): T {
  const limit = stacks.stackTraceLimit;
  stacks.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    stacks.stackTraceLimit = limit;
  }
}

/** A member of the data, or all of it under its alias; a member that is called like the alias wins. */
export function variableOf(data: Data, name: string): unknown {
  if (name !== WHOLE_DATA && Object.hasOwn(data, name)) {
    return data[name];
  }
  return name === DATA_ALIAS || name === WHOLE_DATA ? data : undefined;
}

function kindOf(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  return Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
}
