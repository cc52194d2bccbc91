import { celError, isCelError, plan, type CelInput, type CelResult } from '@bufbuild/cel';
import { CelMeter } from './cel-meter.js';
import { DATA_ALIAS, parseCel, WHOLE_DATA, type CelSource } from './cel-source.js';
import { JsonView, toJsonValue } from './cel-values.js';
import { meteredEnvironment, NODES_A_STEP } from './cel-functions.js';
import { ExpressionError, type ExpressionFailure } from './expression.errors.js';
import { WorkBudget } from './expression-limits.js';

type Data = Readonly<Record<string, unknown>>;
type Bindings = Record<string, CelInput>;

/** Messages about missing data, from the CEL library and from this file. */
const MISSING = /^(field not found|index .+ out of bounds|unknown variable)/;

/** A CEL expression, parsed and checked once. It keeps no state between evaluations, so callers can cache it. */
export class CompiledExpression {
  /** Names of the process data that it reads, without macro variables. `input.amount` counts as `amount`. */
  readonly roots: readonly string[];
  private readonly meter: CelMeter;
  private readonly variables: CelSource['variables'];
  private readonly price: number;
  private readonly run: (bindings: Bindings) => CelResult;
  /** Error values that replace missing variables. Created once, because creating errors is slow. */
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
   * Evaluates the expression to plain JSON.
   * @param budget may be shared; by default the expression alone may use `EXPRESSION_LIMITS.steps`
   * @throws ExpressionError for any failure: a missing field, mismatched types, an exceeded limit
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

  /** Evaluates a condition. @throws ExpressionError as for `evaluate`, and when the value is not a boolean: an error is never "false" */
  test(data: Data, budget?: WorkBudget): boolean {
    const value = this.evaluate(data, budget);
    if (typeof value !== 'boolean') {
      throw this.failed(`is a condition, but its value is ${kindOf(value)} and not true or false`, 'failed');
    }
    return value;
  }

  /** Binds only own members that the expression names, so it can reach nothing else. */
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
      return this.failed('failed: it is nested too deeply or produces too large a value', 'limit');
    }
    // The library reports a wrong list length: "index 5 out of bounds [0, -1)".
    const message = error instanceof Error ? error.message.slice(0, 300).replace(' [0, -1)', '') : 'unknown';
    return this.failed(`failed: ${message}`, MISSING.test(message) ? 'missing' : 'failed');
  }

  private failed(what: string, reason: ExpressionFailure): ExpressionError {
    const shown = this.source.length > 80 ? `${this.source.slice(0, 80)}…` : this.source;
    return new ExpressionError(`The expression "${shown}" ${what}`, reason, this.source);
  }
}

/** Effective only in V8; a plain property elsewhere. */
const stacks = Error as { stackTraceLimit?: number | undefined };

/** Runs work without stack traces: the library creates an error per missing value, and unused stacks would be the main cost. */
function withoutStacks<T>(work: () => T): T {
  const limit = stacks.stackTraceLimit;
  stacks.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    stacks.stackTraceLimit = limit;
  }
}

/** Returns a member of the data, or all data for the alias. A member named like the alias takes precedence. */
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
