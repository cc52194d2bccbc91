import { BEYOND_NUMBERS, isJsonObject } from '#engine/json';
import { isPrototypeKey } from '#engine/paths';
import type { Place, PackageProblems } from '../model/package-problems.js';

/** Maximum nesting of a package. Workflow nodes need seven levels; the rest is for schemas and bodies. */
const MAX_DEPTH = 64;
/** Maximum number of elements per array. */
const MAX_ELEMENTS = 10_000;
const MAX_NAME_LENGTH = 1_024;
/** Minimum average bytes per value. Real packages have 20 and more, so only maliciously dense ones exceed the limit. */
const BYTES_PER_VALUE = 16;
/** Minimum number of allowed values, to keep small limits usable. */
const MIN_VALUES = 16_384;
/** Characters that neither databases nor XML can store. */
// eslint-disable-next-line no-control-regex
const UNSTORABLE = /[\u0000\p{Cs}]/u;

interface Visit {
  value: unknown;
  depth: number;
  /** Linked list of steps, so that a pointer costs nothing until it is needed. */
  step: Step | null;
}

interface Step {
  name: string | number;
  above: Step | null;
}

/**
 * Rejects untrusted JSON that other code must not process: excessive nesting, arrays or numbers of values, member names that reach a
 * prototype, and text that cannot be stored.
 * @param maxBytes size limit of the document
 * @param placeOf returns the file and element of a path
 */
export function checkBounds(
  document: unknown,
  maxBytes: number,
  problems: PackageProblems,
  placeOf: (path: (string | number)[]) => Place,
): void {
  // Not recursive, since deep nesting would exhaust the stack before it is detected.
  const open: Visit[] = [{ value: document, depth: 0, step: null }];
  const maxValues = Math.max(MIN_VALUES, Math.floor(maxBytes / BYTES_PER_VALUE));
  let values = 0;
  for (let visit = open.pop(); visit !== undefined && !problems.isFull; visit = open.pop()) {
    values += 1;
    if (values > maxValues) {
      const message = `A package can have at most ${maxValues} values: objects, arrays, strings and others. Split it.`;
      problems.error('TOO_MANY', placeOf([]), message);
      return;
    }
    const tooMuch = boundProblem(visit);
    if (tooMuch !== undefined) {
      problems.error(tooMuch.code, placeOf(pathOf(visit.step)), tooMuch.message);
    } else {
      enter(visit, open);
    }
  }
}

interface Excess {
  code: string;
  message: string;
}

function boundProblem({ value, depth, step }: Visit): Excess | undefined {
  if (depth > MAX_DEPTH) {
    return { code: 'TOO_DEEP', message: `A package can have at most ${MAX_DEPTH} levels.` };
  }
  if (Array.isArray(value) && value.length > MAX_ELEMENTS) {
    return { code: 'TOO_MANY', message: `An array of a package can have at most ${MAX_ELEMENTS} elements.` };
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return { code: 'VALUE_INVALID', message: `A value ${BEYOND_NUMBERS}.` };
  }
  const name = typeof step?.name === 'string' ? step.name : '';
  return nameProblem(name) ?? (typeof value === 'string' ? textProblem(value) : undefined);
}

function nameProblem(name: string): Excess | undefined {
  if (isPrototypeKey(name)) {
    return { code: 'NAME_FORBIDDEN', message: `No member may be named ${name}.` };
  }
  if (name.length > MAX_NAME_LENGTH) {
    return {
      code: 'NAME_TOO_LONG',
      message: `Names of members can have at most ${MAX_NAME_LENGTH} characters.`,
    };
  }
  return textProblem(name);
}

function textProblem(text: string): Excess | undefined {
  return UNSTORABLE.test(text)
    ? { code: 'TEXT_INVALID', message: 'A string contains a NUL or half of a surrogate pair.' }
    : undefined;
}

function enter({ value, depth, step }: Visit, open: Visit[]): void {
  if (Array.isArray(value)) {
    // In reverse, since the last one pushed is visited first.
    for (let index = value.length - 1; index >= 0; index -= 1) {
      open.push({ value: value[index] as unknown, depth: depth + 1, step: { name: index, above: step } });
    }
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value).toReversed()) {
      open.push({ value: member, depth: depth + 1, step: { name, above: step } });
    }
  }
}

function pathOf(last: Step | null): (string | number)[] {
  const path: (string | number)[] = [];
  for (let step = last; step !== null; step = step.above) {
    path.unshift(step.name);
  }
  return path;
}
