import {
  Injectable,
  ValidationPipe,
  type ArgumentMetadata,
  type PipeTransform,
  type Type,
  type ValidationError,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { cached, runAfterYield } from '#engine/support';
import { BEYOND_NUMBERS, hasMoreValues, isContainer } from '#engine/json';
import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';
import { textCheck, type TextCheck } from './text-rules.js';

/** Key in the context of a rule for its text in the contract, which becomes the `message` of the error. */
export const CONTRACT_MESSAGE = 'contractMessage';

/**
 * Maximum number of values of a body with a DTO class, none of which needs so many. The libraries behind DTO classes
 * are slow for each unknown field.
 */
const MAX_VALUES = 1_500;
/** Fields that are validated when such a body has too many values. */
const MAX_FIELDS = 500;
/** Maximum depth of a body. The fields of the interface contract need only a few levels. */
const MAX_DEPTH = 64;

const SHARED: ValidationPipeOptions = {
  whitelist: true,
  transform: true,
  stopAtFirstError: true,
  exceptionFactory: toValidationFailed,
};

interface NameRule {
  refuses(name: string): boolean;
  rule: string;
}

/**
 * For DTO classes. The libraries behind them reject all other unknown fields, but drop those with the name of an
 * inherited object member.
 */
const OF_CLASSES: NameRule = {
  refuses: (name) => name === 'prototype' || name in Object.prototype,
  rule: 'is not a known field',
};

/** For bodies whose shape is data: only the keys through which a careless copy or merge reaches a prototype. */
const OF_DATA: NameRule = {
  refuses: (name) => name === '__proto__' || name === 'constructor' || name === 'prototype',
  rule: 'is a name that no field may have',
};

/** Types of parameters without a DTO class: `Record<string, unknown>` becomes `Object`. */
const WITHOUT_CLASS: ReadonlySet<unknown> = new Set([undefined, Object, Array, String, Number, Boolean]);

/**
 * Validates paths, queries and bodies against their DTO classes. Unknown body fields are rejected by name; unknown
 * query parameters have been rejected before.
 *
 * A body without a DTO class, whose shape is data, passes unchanged and needs its own pipe. Only what is dangerous in
 * any body is rejected here: keys that reach prototypes, and excessive nesting.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly strict = new ValidationPipe({ ...SHARED, forbidNonWhitelisted: true });
  private readonly lenient = new ValidationPipe(SHARED);
  private readonly ofPaths = new ValidationPipe({
    ...SHARED,
    validationError: { target: true },
    exceptionFactory: (errors: ValidationError[]) => toValidationFailed(inOrderOfPath(errors)),
  });

  private readonly textChecks = new WeakMap<Type, { check: TextCheck | undefined }>();
  /** Classes for which a query without parameters is valid. */
  private readonly validWhenEmpty = new WeakSet<Type>();

  /** @throws ValidationFailedError naming every field that breaks a rule */
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    switch (metadata.type) {
      case 'body':
        // The handler validates bytes when it parses them.
        return value instanceof Uint8Array ? value : this.ofBody(value, metadata);
      case 'query':
        return this.ofQuery(value, metadata);
      case 'param':
        return this.ofPath(value, metadata);
      case 'custom':
        return value;
    }
  }

  private async ofBody(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (WITHOUT_CLASS.has(metadata.metatype)) {
      await runAfterYield(() => refuseUnsafe(value, OF_DATA));
      return value;
    }
    return runAfterYield((): Promise<unknown> => {
      const some = fewerFields(value);
      refuseUnsafe(some, OF_CLASSES);
      return this.strict.transform(fewerValues(some), metadata);
    });
  }

  private async ofQuery(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    const isEmpty = isContainer(value) && Object.keys(value).length === 0;
    if (metatype === undefined || WITHOUT_CLASS.has(metatype) || !isEmpty) {
      return this.lenient.transform(value, metadata);
    }
    if (this.validWhenEmpty.has(metatype)) {
      return new metatype();
    }
    const query: unknown = await this.lenient.transform({}, metadata);
    // Fields with values may have to be created for each object, so such a class is not remembered.
    if (query instanceof metatype && Object.values(query as object).every((field) => field === undefined)) {
      this.validWhenEmpty.add(metatype);
    }
    return query;
  }

  private ofPath(value: unknown, metadata: ArgumentMetadata): unknown {
    const { metatype } = metadata;
    const { check } =
      metatype !== undefined && isContainer(value)
        ? cached(this.textChecks, metatype, () => ({ check: textCheck(metatype) }))
        : {};
    return check?.(value as Record<string, unknown>) ?? this.ofPaths.transform(value, metadata);
  }
}

/**
 * Rejects forbidden names, excessive nesting, and numbers that were read as infinite (beyond a double, or integers that
 * a double would round). Works level by level: code that reads or writes JSON is recursive, so a body deeper than the
 * call stack would cause an internal error.
 */
function refuseUnsafe(body: unknown, names: NameRule): void {
  let level = isContainer(body) ? [body] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    const inside: object[] = [];
    for (const container of level) {
      const fault = collect(container, names, inside);
      if (fault !== undefined) {
        const path = [...pathTo(container, body), fault.field];
        throw new ValidationFailedError([{ field: path.join('.'), rule: fault.rule }]);
      }
    }
    const [first] = inside;
    if (depth === MAX_DEPTH && first !== undefined) {
      const field = pathTo(first, body).join('.');
      throw new ValidationFailedError([{ field, rule: `is nested more than ${MAX_DEPTH} deep` }]);
    }
    level = inside;
  }
}

/** Limits a body with too many fields to some of them, because examining thousands costs as much as parsing them. */
function fewerFields(body: unknown): unknown {
  const names = isContainer(body) && !Array.isArray(body) ? Object.keys(body) : [];
  return names.length > MAX_VALUES ? fieldsOf(body, names.slice(0, MAX_FIELDS)) : body;
}

/**
 * Limits a body with more values than any DTO class has fields. Of too many fields some suffice, since at least one
 * must be unknown.
 * @throws ValidationFailedError when the fields contain too many values
 */
function fewerValues(body: unknown): unknown {
  if (!hasMoreValues(body, MAX_VALUES)) {
    return body;
  }
  const names = Object.keys(body as object);
  const some = fieldsOf(body, names.slice(0, MAX_FIELDS));
  if (names.length <= MAX_FIELDS || hasMoreValues(some, MAX_VALUES)) {
    throw new ValidationFailedError([{ field: '(body)', rule: `must have at most ${MAX_VALUES} values` }]);
  }
  return some;
}

function fieldsOf(body: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, (body as Record<string, unknown>)[name]]));
}

/**
 * Collects in `inside` the members of an object or array that are containers themselves.
 * @returns the problem of a member, if there is one
 */
function collect(container: object, names: NameRule, inside: object[]): FieldProblem | undefined {
  const isBeyond = (member: unknown): boolean => {
    if (isContainer(member)) {
      inside.push(member);
    }
    return typeof member === 'number' && !Number.isFinite(member);
  };
  // Arrays have no names to check. A small body may contain a hundred thousand empty arrays, so this must be fast.
  if (Array.isArray(container)) {
    const index = container.findIndex(isBeyond);
    return index < 0 ? undefined : { field: String(index), rule: BEYOND_NUMBERS };
  }
  for (const [name, member] of Object.entries(container)) {
    if (names.refuses(name) || isBeyond(member)) {
      return { field: name, rule: names.refuses(name) ? names.rule : BEYOND_NUMBERS };
    }
  }
  return undefined;
}

/**
 * Returns the names that lead to an object or array of a body. Called only for rejected bodies, because building paths
 * costs more than the check.
 */
function pathTo(wanted: object, body: unknown): string[] {
  const parents = new Map<object, { container: object; name: string }>();
  const pending = isContainer(body) ? [body] : [];
  for (let next = pending.pop(); next !== undefined && !parents.has(wanted); next = pending.pop()) {
    for (const [name, member] of Object.entries(next)) {
      if (isContainer(member)) {
        parents.set(member, { container: next, name });
        pending.push(member);
      }
    }
  }
  const path: string[] = [];
  for (let at = parents.get(wanted); at !== undefined; at = parents.get(at.container)) {
    path.unshift(at.name);
  }
  return path;
}

interface Finding extends FieldProblem {
  contractMessage?: string | undefined;
}

/** Sorts errors in the order of the path: the validator checks inherited members last. */
function inOrderOfPath(errors: readonly ValidationError[]): ValidationError[] {
  const names = Object.keys(errors[0]?.target ?? {});
  return errors.toSorted((one, other) => names.indexOf(one.property) - names.indexOf(other.property));
}

function toValidationFailed(errors: ValidationError[]): ValidationFailedError {
  const findings = errors.flatMap((error) => flatten(error, ''));
  const message = findings.find(({ contractMessage }) => contractMessage !== undefined)?.contractMessage;
  return new ValidationFailedError(findings, message);
}

function flatten(error: ValidationError, parent: string): Finding[] {
  const field = parent === '' ? error.property : `${parent}.${error.property}`;
  const own = Object.entries(error.constraints ?? {}).map(([name, text]) => ({
    field,
    rule: ruleOf(name, text),
    contractMessage: (error.contexts?.[name] as Record<string, string> | undefined)?.[CONTRACT_MESSAGE],
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => flatten(child, field))];
}

function ruleOf(constraint: string, text: string): string {
  switch (constraint) {
    case 'whitelistValidation':
      return 'is not a known field';
    case 'nestedValidation':
      return 'must be an object';
    default:
      return text;
  }
}
