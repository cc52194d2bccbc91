import { parse } from '@bufbuild/cel';
import { isPrototypeKey } from '../paths/data-paths.js';
import { isCelFunction } from './cel-functions.js';
import { checkOutline } from './cel-outline.js';
import {
  callOf,
  identOf,
  integer,
  presence,
  RANGE_FUNCTION,
  readOnce,
  replaceParts,
  textOf,
  unread,
  type CelExpr,
  type Kind,
  type Parsed,
} from './cel-tree.js';
import { ExpressionSyntaxError } from './expression.errors.js';
import { EXPRESSION_LIMITS } from './expression-limits.js';

/** Alias for all process data, unless the data has a member with that name. */
export const DATA_ALIAS = 'input';
/** Internal name for all process data. No source can contain it. */
export const WHOLE_DATA = '@data';

/** A parsed expression that passed all static checks. */
export interface CelSource {
  readonly expr: CelExpr;
  readonly variables: readonly string[];
  readonly roots: readonly string[];
  /** Number of tree nodes; each costs time in every evaluation. */
  readonly nodes: number;
}

/** Type names, which do not name data in an expression that calls `type()`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(
  'bool bytes double int list map null_type string type uint google'.split(' '),
);
/** Operators that are not functions of the environment. */
const OPERATORS: ReadonlySet<string> = new Set(['_[_]', '_?_:_', '_&&_', '_||_', '@not_strictly_false']);

/**
 * Parses an expression and runs the checks that need no data.
 * @throws ExpressionSyntaxError
 */
export function parseCel(source: string): CelSource {
  checkOutline(source);
  try {
    return new CelAnalysis(source, parse(source)).result();
  } catch (error) {
    throw syntaxErrorOf(error, source);
  }
}

function syntaxErrorOf(error: unknown, source: string): ExpressionSyntaxError {
  if (error instanceof ExpressionSyntaxError) {
    return error;
  }
  if (error instanceof RangeError) {
    return new ExpressionSyntaxError(`${quoted(source)} is nested too deeply.`);
  }
  const message = error instanceof Error ? error.message : String(error);
  const [, line, column, what] = /^<input>:(\d+):(\d+): (.*)/s.exec(message) ?? [];
  const where = line === undefined ? '' : `line ${line}, column ${column}: `;
  return new ExpressionSyntaxError(
    `${quoted(source)} is not CEL: ${where}${(what ?? message).slice(0, 300)}.`,
  );
}

function quoted(source: string): string {
  return `"${source.length > 80 ? `${source.slice(0, 80)}…` : source}"`;
}

/**
 * Walks the tree once. Collects free names, rejects forbidden parts, and inserts our functions where the library lacks a check (size
 * of a macro's list) or is wrong (null members).
 */
class CelAnalysis {
  private readonly variables = new Set<string>();
  private readonly found = new Set<string>();
  private nodes = 0;
  /** Whether type names are values because the expression calls `type()`; otherwise they may name data. */
  private readonly callsType: boolean;

  constructor(
    private readonly source: string,
    private readonly parsed: Parsed,
  ) {
    this.callsType = /\btype\s*\(/.test(source);
  }

  result(): CelSource {
    const expr = this.visit(this.parsed.expr, new Set(), 0);
    return { expr, variables: [...this.variables], roots: [...this.found], nodes: this.nodes };
  }

  private visit(expr: CelExpr, scope: ReadonlySet<string>, loops: number): CelExpr {
    this.nodes += 1;
    const { exprKind: kind } = expr;
    switch (kind.case) {
      case 'identExpr':
        this.variable(expr, kind.value.name, scope);
        return expr;
      case 'selectExpr':
        return this.select(expr, kind.value, scope, loops);
      case 'callExpr':
        return this.call(expr, kind.value, scope, loops);
      case 'structExpr':
        this.checkStruct(expr, kind.value);
        break;
      case 'comprehensionExpr':
        return this.macro(expr, kind.value, scope, loops);
      default:
    }
    replaceParts(expr, (part) => this.visit(part, scope, loops));
    return expr;
  }

  private variable(expr: CelExpr, written: string, scope: ReadonlySet<string>): void {
    const name = written.replace(/^\./, '');
    this.refusePrototypeKey(expr, name);
    const free = written !== name || !scope.has(name);
    if (free && !(this.callsType && TYPE_NAMES.has(name))) {
      this.variables.add(name);
      this.found.add(name);
    }
  }

  private select(
    expr: CelExpr,
    select: Kind<'selectExpr'>,
    scope: ReadonlySet<string>,
    loops: number,
  ): CelExpr {
    const { operand, field } = select;
    this.refusePrototypeKey(expr, field);
    if (operand === undefined) {
      throw this.error(expr, 'a field selection needs an operand');
    }
    const isMember = this.member(operand, field, scope);
    const holder = isMember ? operand : this.visit(operand, scope, loops);
    if (select.testOnly) {
      return isMember ? presence(expr, holder, field) : this.test(expr, holder, field, scope);
    }
    select.operand = this.readHolder(holder);
    return expr;
  }

  /** Leaves type names such as `google.protobuf.Timestamp` as they are, since they do not name data. */
  private readHolder(holder: CelExpr): CelExpr {
    const isType =
      this.callsType && holder.exprKind.case === 'identExpr' && holder.exprKind.value.name === 'google';
    return isType ? holder : readOnce(holder);
  }

  /** Handles `input.name`, which counts as reading that member, not all data. */
  private member(operand: CelExpr, field: string, scope: ReadonlySet<string>): boolean {
    const isAlias = this.isAlias(operand, scope);
    if (isAlias) {
      this.variables.add(DATA_ALIAS);
      this.found.add(field);
    }
    return isAlias;
  }

  private isAlias(expr: CelExpr | undefined, scope: ReadonlySet<string>): boolean {
    return (
      expr?.exprKind.case === 'identExpr' && expr.exprKind.value.name === DATA_ALIAS && !scope.has(DATA_ALIAS)
    );
  }

  /** Makes `has(client.name)` false when there is no `client`, as for members of any other object. */
  private test(expr: CelExpr, operand: CelExpr, field: string, scope: ReadonlySet<string>): CelExpr {
    const { exprKind: kind } = operand;
    const test = presence(expr, operand, field);
    if (kind.case === 'selectExpr' && this.isAlias(unread(kind.value.operand), scope)) {
      return callOf(expr, '_&&_', [presence(expr, identOf(expr, DATA_ALIAS), kind.value.field), test]);
    }
    if (kind.case !== 'identExpr' || scope.has(kind.value.name) || kind.value.name === DATA_ALIAS) {
      return test;
    }
    this.variables.add(WHOLE_DATA);
    return callOf(expr, '_&&_', [presence(expr, identOf(expr, WHOLE_DATA), kind.value.name), test]);
  }

  private call(expr: CelExpr, call: Kind<'callExpr'>, scope: ReadonlySet<string>, loops: number): CelExpr {
    if (!OPERATORS.has(call.function) && !isCelFunction(call.function)) {
      throw this.error(expr, `there is no function ${call.function.slice(0, 100)} for these arguments`);
    }
    const [holder, index] = call.args;
    if (call.function === '_[_]' && holder !== undefined && index !== undefined) {
      const name = textOf(index);
      this.refusePrototypeKey(expr, name ?? '');
      if (name !== undefined && this.member(holder, name, scope)) {
        call.args = [readOnce(holder), index];
        return expr;
      }
      call.args = [readOnce(this.visit(holder, scope, loops)), this.visit(index, scope, loops)];
      return expr;
    }
    replaceParts(expr, (part) => this.visit(part, scope, loops));
    return expr;
  }

  private checkStruct(expr: CelExpr, { messageName, entries }: Kind<'structExpr'>): void {
    if (messageName !== '') {
      throw this.error(expr, `there is no message type ${messageName.slice(0, 100)}, values are JSON`);
    }
    for (const { keyKind } of entries) {
      this.refusePrototypeKey(expr, (keyKind.case === 'mapKey' && textOf(keyKind.value)) || '');
    }
  }

  private macro(
    expr: CelExpr,
    macro: Kind<'comprehensionExpr'>,
    scope: ReadonlySet<string>,
    loops: number,
  ): CelExpr {
    if (loops >= EXPRESSION_LIMITS.macroNesting) {
      throw this.error(expr, `macros are nested at most ${EXPRESSION_LIMITS.macroNesting} levels deep`);
    }
    this.refusePrototypeKey(expr, macro.iterVar);
    const inside = new Set([...scope, macro.iterVar, macro.accuVar]);
    let body = 0;
    replaceParts(expr, (part, isInside) => {
      const before = this.nodes;
      const visited = isInside ? this.visit(part, inside, loops + 1) : this.visit(part, scope, loops);
      body += isInside ? this.nodes - before : 0;
      return visited;
    });
    const { iterRange } = macro;
    macro.iterRange = iterRange && callOf(expr, RANGE_FUNCTION, [iterRange, integer(expr, body)]);
    return expr;
  }

  private refusePrototypeKey(expr: CelExpr, name: string): void {
    if (isPrototypeKey(name)) {
      throw this.error(expr, `${name} is a name that no field may have`);
    }
  }

  private error(expr: CelExpr, what: string): ExpressionSyntaxError {
    const offset = this.parsed.sourceInfo?.positions[String(expr.id)];
    const where = offset === undefined ? '' : ` at position ${offset + 1}`;
    return new ExpressionSyntaxError(`${quoted(this.source)} cannot be used${where}: ${what}.`);
  }
}
