import { parseExactly, refuseRounded } from '../../json/exact-json.js';
import { jsonFault } from '../../json/json-fault.js';
import { isJsonObject, jsonDepth, type JsonObject, type JsonValue } from '../../json/json.js';
import { isPrototypeKey, parsePath } from '../../paths/data-paths.js';
import { compileExpression, compileJsonTemplate, compileTemplate } from '../../expressions/expressions.js';
import { didYouMean } from '../../support/nearest-name.js';
import { MAX_DURATION_YEARS, parseBoundedDuration } from '../../support/iso-8601.js';
import { hintOf } from '../../expressions/expression-hints.js';
import type { DefinitionProblems } from '../model/definition-problems.js';
import { textOf, type BpmnElement } from '../model/bpmn-element.js';

const MAX_NAME = 255;
const MAX_DEPTH = 64;

/** Reads typed attribute values of one element and reports problems under its id. */
export class Values {
  constructor(
    readonly element: BpmnElement,
    private readonly problems: DefinitionProblems,
  ) {}

  /** Returns the trimmed text of an attribute; null when absent or empty. */
  text(name: string): string | null {
    const text = textOf(this.element, name)?.trim() ?? '';
    if (text.length > MAX_NAME && !LONG.has(name)) {
      this.error('INVALID_VALUE', `${name} can have at most ${MAX_NAME} characters.`);
      return null;
    }
    return text === '' ? null : text;
  }

  /** Reads a required text. */
  required(name: string, where: string): string {
    const text = this.text(name);
    if (text === null) {
      this.error('MISSING_VALUE', `${where} needs ${name}.`);
    }
    return text ?? '';
  }

  flag(name: string, fallback: boolean): boolean {
    const text = this.text(name);
    if (text !== null && text !== 'true' && text !== 'false') {
      this.error('INVALID_VALUE', `${name} is "true" or "false", not "${text}".`);
    }
    return text === null ? fallback : text === 'true';
  }

  /** Reads a whole number below a billion. */
  number(name: string): number | null {
    const text = this.text(name);
    if (text !== null && !/^\d{1,9}$/.test(text)) {
      this.error('INVALID_VALUE', `${name} must be a whole number, not "${text}".`);
      return null;
    }
    return text === null ? null : Number(text);
  }

  oneOf<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.text(name) ?? fallback;
    const choice = choices.find((one) => one === text);
    if (choice === undefined) {
      const message = `${name} must be one of ${choices.join(', ')}, not "${text}".`;
      this.error('INVALID_VALUE', `${message}${didYouMean(text, choices)}`);
    }
    return choice ?? fallback;
  }

  /** Reads comma-separated data paths. With `everything`, `*` is allowed too. */
  paths(name: string, everything = false): string[] {
    return splitPaths(textOf(this.element, name) ?? '').filter((path) => {
      if (everything && path === '*') {
        return true;
      }
      return this.attempt('INVALID_PATH', name, () => parsePath(path));
    });
  }

  path(name: string): string | null {
    const path = this.text(name);
    return path !== null && this.attempt('INVALID_PATH', name, () => parsePath(path)) ? path : null;
  }

  expression(name: string): string | null {
    const source = this.text(name);
    return source === null || this.isExpression(source, name) ? source : null;
  }

  /** Whether a text is CEL. Reports no problem. */
  isCel(source: string): boolean {
    try {
      compileExpression(source);
      return true;
    } catch {
      return false;
    }
  }

  isExpression(source: string, what: string): boolean {
    return this.attempt('INVALID_EXPRESSION', what, () => compileExpression(source), hintOf(source));
  }

  isTemplate(source: string, what: string): boolean {
    return this.attempt('INVALID_EXPRESSION', what, () => compileTemplate(source));
  }

  /** Reads a bounded ISO 8601 duration. With `references` it may contain `${…}` and is then parsed at run time. */
  duration(name: string, references = false): string | null {
    const text = this.text(name);
    const open = references && text?.includes('${') === true;
    const valid = text === null || (open ? this.isTemplate(text, name) : this.isDuration(text, name));
    return valid ? text : null;
  }

  isDuration(text: string, what: string): boolean {
    if (parseBoundedDuration(text) === undefined) {
      const message = `${what} must be an ISO 8601 duration such as PT15M or P30D, of at most ${MAX_DURATION_YEARS} years, not "${text.slice(0, 80)}".`;
      this.error('INVALID_DURATION', message);
      return false;
    }
    return true;
  }

  /** Reads a JSON object. */
  json(name: string): JsonObject | null {
    const source = textOf(this.element, name)?.trim() ?? '';
    const read = { value: undefined as unknown };
    if (source === '' || !this.attempt('INVALID_JSON', name, () => (read.value = parseJson(source)))) {
      return null;
    }
    if (!isJsonObject(read.value)) {
      this.error('INVALID_JSON', `${name} must be a JSON object.`);
      return null;
    }
    return read.value;
  }

  /** Reads a JSON object whose strings may contain `${…}`. */
  jsonTemplate(name: string): JsonObject | null {
    const object = this.json(name);
    const compiles =
      object !== null && this.attempt('INVALID_JSON', name, () => compileJsonTemplate(object as JsonValue));
    return compiles ? object : null;
  }

  /** Returns a reader for a nested element. */
  of(element: BpmnElement): Values {
    return new Values(element, this.problems);
  }

  /** Reports an error, unless it may only follow from a misspelt attribute of an action. */
  error(code: string, message: string): void {
    if (FOLLOWING.has(code) && this.isMisspelt()) {
      return;
    }
    this.problems.error(code, this.element, message);
  }

  warning(code: string, message: string): void {
    if (this.isMisspelt()) {
      return;
    }
    this.problems.warning(code, this.element, message);
  }

  private isMisspelt(): boolean {
    return OF_ACTIONS.has(this.element.$type) && this.problems.hasWrongValue(this.element);
  }

  private attempt(code: string, what: string, read: () => unknown, hint = ''): boolean {
    try {
      read();
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown';
      this.error(code, `${what}${hint}: ${why}`);
      return false;
    }
  }
}

const OF_ACTIONS: ReadonlySet<string> = new Set(['svc:Action', 'svc:UiAction']);
const FOLLOWING: ReadonlySet<string> = new Set(['MISSING_VALUE', 'INVALID_ACTION', 'UNKNOWN_ACTION']);

/** Attributes that are not limited to the length of a name. */
const LONG: ReadonlySet<string> = new Set(['body', 'condition', 'correlation', 'collection', 'keys']);

/** Parses JSON that can become process data: limited in depth and without prototype keys. */
function parseJson(source: string): unknown {
  const value = parsed(source);
  if (jsonDepth(value) > MAX_DEPTH) {
    throw new Error(`JSON can have at most ${MAX_DEPTH} levels.`);
  }
  const open = [value];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at === 'object' && at !== null) {
      const name = Object.keys(at).find(isPrototypeKey);
      if (name !== undefined) {
        throw new Error(`data cannot have a member named ${name}.`);
      }
      Object.values(at).forEach((member) => open.push(member));
    }
  }
  return value;
}

function parsed(source: string): unknown {
  try {
    return parseExactly(source, refuseRounded);
  } catch (error) {
    const fault = jsonFault(error, source);
    throw fault === undefined ? error : new Error(fault, { cause: error });
  }
}

/** Splits at commas outside brackets and quotes: `a, fields["x, y"]`. */
function splitPaths(text: string): string[] {
  const parts = text.match(/(?:\["[^"]*"\]|\['[^']*'\]|[^,])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
