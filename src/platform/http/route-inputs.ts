import type { ExecutionContext, Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { getMetadataStorage } from 'class-validator';
import { repeatedIn } from '../validation/query.decorators.js';
import { cached } from '#engine/support';

/** The parts of a request that a handler declares by `@Body()` and `@Query()`. */
export interface RouteInputs {
  readonly takesBody: boolean;
  readonly query: readonly string[];
  readonly repeated: readonly string[];
}

const known = new WeakMap<object, RouteInputs>();

/** Returns the declared inputs of the handler, computed once per handler. */
export function routeInputs(context: ExecutionContext): RouteInputs {
  const handler = context.getHandler();
  return cached(known, handler, () => inputsOf(context.getClass(), handler.name));
}

function inputsOf(controller: Type, method: string): RouteInputs {
  type Declared = Record<string, { index: number }>;
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Declared;
  const prototype = controller.prototype as object;
  const classes = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as Type[];
  // The keys are `<kind>:<index>`.
  const indexesOf = (kind: RouteParamtypes): number[] =>
    Object.entries(declared).flatMap(([key, { index }]) => (key.startsWith(`${kind}:`) ? [index] : []));
  const queries = indexesOf(RouteParamtypes.QUERY).map((index) => classes[index]);
  return {
    takesBody: indexesOf(RouteParamtypes.BODY).length > 0,
    query: queries.flatMap(fieldsOf),
    repeated: queries.flatMap(repeatedIn),
  };
}

/** Returns the fields of a DTO. Each has a rule, because `whitelist` drops those without. */
function fieldsOf(dto: Type | undefined): string[] {
  const rules =
    dto === undefined ? [] : getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}
