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

/**
 * Checks paths, queries and bodies against their DTO classes. Unknown body fields are refused by name, unknown query
 * parameters ignored.
 */
@Injectable()
export class RequestValidationPipe implements PipeTransform {
  private readonly strict = new ValidationPipe({ ...SHARED, forbidNonWhitelisted: true });
  private readonly lenient = new ValidationPipe(SHARED);

  /** @throws ValidationFailedError naming every field that breaks a rule */
  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    switch (metadata.type) {
      case 'body':
        refuseUnsafe(value);
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
 * Refuses what the libraries cannot be given: they call themselves at every level, so a body nested deeper than the call
 * stack would be a fault of ours, and they drop fields with the name of something that every object inherits, where every
 * other unknown field is refused. With a stack of our own.
 */
function refuseUnsafe(body: unknown): void {
  const pending: [path: string, value: unknown, depth: number][] = [['', body, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [path, value, depth] = next;
    if (depth > MAX_DEPTH) {
      throw new ValidationFailedError([{ field: path, rule: `is nested more than ${MAX_DEPTH} deep` }]);
    }
    for (const [name, member] of Object.entries(value ?? {})) {
      const field = path === '' ? name : `${path}.${name}`;
      if (name === 'prototype' || name in Object.prototype) {
        throw new ValidationFailedError([{ field, rule: 'is not a known field' }]);
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
