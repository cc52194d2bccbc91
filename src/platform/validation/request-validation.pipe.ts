import {
  Injectable,
  ValidationPipe,
  type ArgumentMetadata,
  type PipeTransform,
  type Type,
  type ValidationError,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { cached, inTurn } from '#engine/support';
import { BEYOND_NUMBERS, hasMoreValues, isContainer } from '#engine/json';
import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';
import { textCheck, type TextCheck } from './text-rules.js';

/** Name of the context entry by which a rule of the contract puts its own text into `message`. */
export const CONTRACT_MESSAGE = 'contractMessage';

/** Values of a body of a DTO class: the libraries behind them take long for each field that they do not know. None needs so many. */
const MAX_VALUES = 1_500;
/** Fields of such a body that are looked at, when it has too many values. */
const MAX_FIELDS = 500;
/** Levels of a body: no field of the interface contract needs more than a handful. */
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
 * For DTO classes. The libraries behind them refuse every other unknown field, but drop fields with the name of
 * something that every object inherits.
 */
const OF_CLASSES: NameRule = {
  refuses: (name) => name === 'prototype' || name in Object.prototype,
  rule: 'is not a known field',
};

/** For bodies whose shape is data, only the keys by which a careless copy or merge of them reaches a prototype. */
const OF_DATA: NameRule = {
  refuses: (name) => name === '__proto__' || name === 'constructor' || name === 'prototype',
  rule: 'is a name that no field may have',
};

/** What a parameter has for a class when its type is none of ours: `Record<string, unknown>` becomes `Object`. */
const WITHOUT_CLASS: ReadonlySet<unknown> = new Set([undefined, Object, Array, String, Number, Boolean]);

/**
 * Checks paths, queries and bodies against their DTO classes. Unknown body fields are refused by name; unknown query
 * parameters have been refused before.
 *
 * A body without a DTO class, whose shape is data, passes as it is and needs a pipe of its own. Only what is dangerous in
 * any body is refused here: keys that reach prototypes, and nesting without end.
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
  /** Classes of which a query without parameters keeps the rules. */
  private readonly withoutQuery = new WeakSet<Type>();

  /** @throws ValidationFailedError naming every field that breaks a rule */
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    switch (metadata.type) {
      case 'body':
        // Unread: whoever reads it checks it.
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
      await inTurn(() => refuseUnsafe(value, OF_DATA));
      return value;
    }
    return inTurn((): Promise<unknown> => {
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
    if (this.withoutQuery.has(metatype)) {
      return new metatype();
    }
    const query: unknown = await this.lenient.transform({}, metadata);
    // Otherwise it has something that may be made anew each time.
    if (query instanceof metatype && Object.values(query as object).every((field) => field === undefined)) {
      this.withoutQuery.add(metatype);
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
 * Refuses names that no field may have, and bodies that are nested deeper than any body needs. Code that reads or writes
 * JSON calls itself at every level. So a body deeper than the call stack would be a fault of ours. This check goes through
 * level by level. Numbers that were read as infinite are refused too: those beyond a double, and integers that one would round.
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

/** Of a body with more fields than it may have values only some are looked at: looking at thousands costs as much as reading them. */
function fewerFields(body: unknown): unknown {
  const names = isContainer(body) && !Array.isArray(body) ? Object.keys(body) : [];
  return names.length > MAX_VALUES ? fieldsOf(body, names.slice(0, MAX_FIELDS)) : body;
}

/**
 * A body of more values than any DTO class has fields for. Of too many fields only some are looked at, since some cannot be known.
 * @throws ValidationFailedError for one that has too many values inside of them
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

/** @returns what is wrong with a member of an object or array; otherwise `inside` has those that are containers too */
function collect(container: object, names: NameRule, inside: object[]): FieldProblem | undefined {
  const isBeyond = (member: unknown): boolean => {
    if (isContainer(member)) {
      inside.push(member);
    }
    return typeof member === 'number' && !Number.isFinite(member);
  };
  // An array has no names to look at; one of a hundred thousand empty arrays is a small body.
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

/** Names that lead to an object or array of a body. Asked for one that is refused only, since texts of paths cost more than the check. */
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

/** The validator looks at inherited members last, whatever their place in the path. */
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
