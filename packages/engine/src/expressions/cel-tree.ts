import type { parse } from '@bufbuild/cel';

export type Parsed = ReturnType<typeof parse>;
/** A node of an expression tree. */
export type CelExpr = Parsed['expr'];
export type Kind<Case extends string> = Extract<CelExpr['exprKind'], { case: Case }>['value'];

/** Wraps the operand of a selection; returns its argument. */
export const READ_FUNCTION = '@read';
/** Replaces the presence test of a selection, which is false for null members. */
export const HAS_FUNCTION = '@has';
/** Wraps the list or map of a macro. The second argument is the number of nodes in the macro's body. */
export const RANGE_FUNCTION = '@range';

/** Returns the value of a string literal; undefined for anything else. */
export function textOf(expr: CelExpr): string | undefined {
  const { exprKind: kind } = expr;
  const constant = kind.case === 'constExpr' ? kind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? constant.value : undefined;
}

/**
 * Replaces each part of a node with the result of visiting it.
 * @param visit `isInside` is true where the variables of a macro are in scope
 */
export function replaceParts(
  { exprKind: kind }: CelExpr,
  visit: (part: CelExpr, isInside: boolean) => CelExpr,
): void {
  const replaced = (part: CelExpr | undefined, isInside = false): CelExpr | undefined =>
    part && visit(part, isInside);
  const all = (parts: CelExpr[]): CelExpr[] => parts.map((part) => visit(part, false));
  switch (kind.case) {
    case 'selectExpr':
      kind.value.operand = replaced(kind.value.operand);
      break;
    case 'callExpr':
      kind.value.target = replaced(kind.value.target);
      kind.value.args = all(kind.value.args);
      break;
    case 'listExpr':
      kind.value.elements = all(kind.value.elements);
      break;
    case 'structExpr':
      for (const entry of kind.value.entries) {
        if (entry.keyKind.case === 'mapKey') {
          entry.keyKind.value = visit(entry.keyKind.value, false);
        }
        entry.value = replaced(entry.value);
      }
      break;
    case 'comprehensionExpr':
      kind.value.accuInit = replaced(kind.value.accuInit);
      kind.value.iterRange = replaced(kind.value.iterRange);
      kind.value.loopCondition = replaced(kind.value.loopCondition, true);
      kind.value.loopStep = replaced(kind.value.loopStep, true);
      kind.value.result = replaced(kind.value.result, true);
      break;
    default:
  }
}

function node(at: CelExpr, exprKind: CelExpr['exprKind']): CelExpr {
  return { $typeName: 'cel.expr.Expr', id: at.id, exprKind };
}

export function identOf(at: CelExpr, name: string): CelExpr {
  return node(at, { case: 'identExpr', value: { $typeName: 'cel.expr.Expr.Ident', name } });
}

export function callOf(at: CelExpr, name: string, args: CelExpr[]): CelExpr {
  return node(at, { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } });
}

export function integer(at: CelExpr, value: number): CelExpr {
  const constantKind = { case: 'int64Value', value: BigInt(value) } as const;
  return node(at, { case: 'constExpr', value: { $typeName: 'cel.expr.Constant', constantKind } });
}

/** Builds a test whether an object has a member. */
export function presence(at: CelExpr, operand: CelExpr, field: string): CelExpr {
  const constantKind = { case: 'stringValue', value: field } as const;
  const name = node(at, { case: 'constExpr', value: { $typeName: 'cel.expr.Constant', constantKind } });
  return callOf(at, HAS_FUNCTION, [operand, name]);
}

/**
 * Marks the start of a chain of selections as a value. Otherwise the library resolves `a.b.c` as a name first, then `a.b`, then `a`,
 * which takes quadratic time to plan and costs more in every evaluation. Names of process data never contain dots.
 */
export function readOnce(operand: CelExpr): CelExpr {
  const { exprKind: kind } = operand;
  const isReadOnce =
    kind.case === 'selectExpr' ||
    (kind.case === 'callExpr' && ['_[_]', READ_FUNCTION].includes(kind.value.function));
  return isReadOnce ? operand : callOf(operand, READ_FUNCTION, [operand]);
}

/** Undoes `readOnce`. */
export function unread(expr: CelExpr | undefined): CelExpr | undefined {
  const kind = expr?.exprKind;
  return kind?.case === 'callExpr' && kind.value.function === READ_FUNCTION ? kind.value.args[0] : expr;
}
