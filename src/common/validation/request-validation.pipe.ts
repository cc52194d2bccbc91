import {
  Injectable,
  ValidationPipe,
  type ArgumentMetadata,
  type PipeTransform,
  type ValidationError,
  type ValidationPipeOptions,
} from '@nestjs/common';
import { ValidationFailedError, type FieldProblem } from '../errors/request.errors.js';

/** Name of the context entry by which a rule of the contract puts its own text into `message`. */
export const CONTRACT_MESSAGE = 'contractMessage';

/** Levels of a body: no field of the interface contract needs more than a handful. */
const MAX_DEPTH = 64;

const SHARED: ValidationPipeOptions = {
  whitelist: true,
  transform: true,
  stopAtFirstError: true,
  exceptionFactory: toValidationFailed,
};

/** Which names no field of a body may have, and what is said of one that has. */
interface NameRule {
  refuses(name: string): boolean;
  rule: string;
}

/**
 * For DTO classes: the libraries behind them drop fields with the name of something that every object inherits, where every
 * other unknown field is refused.
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

  /** @throws ValidationFailedError naming every field that breaks a rule */
  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    switch (metadata.type) {
      case 'body':
        refuseUnsafe(value, WITHOUT_CLASS.has(metadata.metatype) ? OF_DATA : OF_CLASSES);
        return this.strict.transform(value, metadata) as Promise<unknown>;
      case 'query':
      case 'param':
        return this.lenient.transform(value, metadata) as Promise<unknown>;
      case 'custom':
        return value;
    }
  }
}

/**
 * Refuses names that no field may have, and what is nested deeper than any body needs: whatever reads or writes JSON
 * calls itself at every level, so that a body deeper than the call stack would be a fault of ours. With a stack of our own.
 * A number beyond a double is refused too: it would be read as infinite, and written as null.
 */
function refuseUnsafe(body: unknown, names: NameRule): void {
  const pending: [path: string, value: unknown, depth: number][] = [['', body, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [path, value, depth] = next;
    if (depth > MAX_DEPTH) {
      throw new ValidationFailedError([{ field: path, rule: `is nested more than ${MAX_DEPTH} deep` }]);
    }
    for (const [name, member] of Object.entries(value ?? {})) {
      const field = path === '' ? name : `${path}.${name}`;
      if (names.refuses(name)) {
        throw new ValidationFailedError([{ field, rule: names.rule }]);
      }
      if (typeof member === 'number' && !Number.isFinite(member)) {
        throw new ValidationFailedError([{ field, rule: 'is a number beyond what can be kept' }]);
      }
      if (typeof member === 'object') {
        pending.push([field, member, depth + 1]);
      }
    }
  }
}

interface Finding extends FieldProblem {
  contractMessage?: string | undefined;
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
