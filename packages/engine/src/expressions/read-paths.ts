import { parse } from '@bufbuild/cel';
import { checkOutline } from './cel-outline.js';
import { TYPE_NAMES } from './cel-source.js';
import { replaceParts, textOf, type CelExpr } from './cel-tree.js';
import { namesInPath } from './template-reference.js';
import { splitTemplate } from './template-scanner.js';

/** Names from the root of process data to a value, without indexes: what is known about a list holds for each element. */
export type ReadPath = readonly string[];

type Scope = ReadonlySet<string>;

const NOTHING: Scope = new Set();

/**
 * Returns the data paths that an expression reads, so that names can be checked before it runs. Paths into macro variables are left
 * out.
 * @returns an empty list if the text is not CEL
 */
export function pathsInExpression(source: string): ReadPath[] {
  try {
    checkOutline(source);
    const reading = new Reading(/\btype\s*\(/.test(source));
    reading.visit(parse(source).expr, NOTHING);
    return reading.found;
  } catch {
    return [];
  }
}

/**
 * Returns the paths as `pathsInExpression`, for text or JSON text with `${…}`.
 * @returns an empty list if the text is not a template
 */
export function pathsInTemplate(source: string): ReadPath[] {
  try {
    return splitTemplate(source).flatMap((part) => {
      if (part.kind === 'text') {
        return [];
      }
      const names = namesInPath(part.written);
      return names === undefined ? pathsInExpression(part.written) : [names];
    });
  } catch {
    return [];
  }
}

/** Returns the paths as `pathsInTemplate`, for every string of a JSON value. */
export function pathsInJson(value: unknown): ReadPath[] {
  const found: ReadPath[] = [];
  const open = [value];
  while (open.length > 0) {
    const at = open.pop();
    if (typeof at === 'string') {
      found.push(...pathsInTemplate(at));
    } else if (typeof at === 'object' && at !== null) {
      for (const member of Object.values(at)) {
        open.push(member);
      }
    }
  }
  return found;
}

class Reading {
  readonly found: ReadPath[] = [];

  constructor(private readonly callsType: boolean) {}

  /** @param isNoPath true when already known, so that parts of a long chain are not followed to its start again */
  visit(expr: CelExpr, scope: Scope, isNoPath = false): void {
    const path = isNoPath ? undefined : this.pathOf(expr, scope);
    if (path !== undefined) {
      this.found.push(path);
      return;
    }
    const { exprKind: kind } = expr;
    const isMacro = kind.case === 'comprehensionExpr';
    const inside = isMacro ? new Set([...scope, kind.value.iterVar, kind.value.accuVar]) : scope;
    replaceParts(expr, (part, isInside) => {
      this.visit(part, isInside ? inside : scope, kind.case === 'selectExpr');
      return part;
    });
  }

  /** Returns the names in a chain of selections that starts with a member of the data; undefined for anything else. */
  private pathOf(expr: CelExpr | undefined, scope: Scope): string[] | undefined {
    const kind = expr?.exprKind;
    switch (kind?.case) {
      case 'identExpr':
        return this.rootOf(kind.value.name, scope);
      case 'selectExpr':
        return this.below(kind.value.operand, [kind.value.field], scope);
      case 'callExpr': {
        const [operand, index] = kind.value.args;
        const names = kind.value.function === '_[_]' ? namesOfIndex(index) : undefined;
        return names && this.below(operand, names, scope);
      }
      default:
        return undefined;
    }
  }

  private rootOf(written: string, scope: Scope): string[] | undefined {
    const name = written.replace(/^\./, '');
    return scope.has(name) || (this.callsType && TYPE_NAMES.has(name)) ? undefined : [name];
  }

  private below(holder: CelExpr | undefined, names: readonly string[], scope: Scope): string[] | undefined {
    const path = this.pathOf(holder, scope);
    path?.push(...names);
    return path;
  }
}

/** Returns the name in `["a name"]`, an empty list for `[0]`, or undefined for an index known only at run time. */
function namesOfIndex(index: CelExpr | undefined): string[] | undefined {
  const kind = index?.exprKind;
  if (index === undefined || kind?.case !== 'constExpr') {
    return undefined;
  }
  const name = textOf(index);
  return name === undefined ? [] : [name];
}
