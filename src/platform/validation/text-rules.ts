import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import type * as transformer from 'class-transformer/types/storage.js';
import { getMetadataStorage, ValidationTypes } from 'class-validator';

// Of the instance that the decorators fill; the library exports it nowhere else.
const { defaultMetadataStorage } = createRequire(import.meta.url)(
  'class-transformer/cjs/storage.js',
) as typeof transformer;
const PLAIN_TO_CLASS = 0;

/** Makes an object of a class, without fields that it does not know; undefined when a rule is broken. */
export type TextCheck = (sent: Readonly<Record<string, unknown>>) => object | undefined;

/**
 * The rules of a class whose fields are taken as they were sent, each checked by itself. They are made of the decorators once.
 * The libraries behind the decorators look every rule up anew for every object.
 * @returns undefined for a class without rules, and for one with decorators that do more
 */
export function textCheck(type: Type<object>): TextCheck | undefined {
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(type, '', false, false).map((rule) => ({
    ...rule,
    checks: storage.getTargetValidatorConstraints(rule.constraintCls),
  }));
  const fields = [...new Set(rules.map(({ propertyName }) => propertyName))];
  const isPlain = rules.every(
    ({ type: kind, each, validateIf, checks }) =>
      kind === ValidationTypes.CUSTOM_VALIDATION &&
      !each &&
      !validateIf &&
      checks.every(({ async }) => !async),
  );
  if (rules.length === 0 || !isPlain || !fields.every((field) => isTakenAsItIs(type, field))) {
    return undefined;
  }
  return (sent) => {
    const object = new type() as Record<string, unknown>;
    fields.forEach((field) => (object[field] = sent[field]));
    const keeps = rules.every(({ propertyName: property, constraints, checks }) => {
      const value = object[property];
      const told = { targetName: type.name, property, object, value, constraints };
      return checks.every(({ instance }) => instance.validate(value, told) === true);
    });
    return keeps ? object : undefined;
  };
}

/** `@Transform` and `@Type` are all that classes of requests have of that library. */
function isTakenAsItIs(type: Type<object>, field: string): boolean {
  return (
    defaultMetadataStorage.findTransformMetadatas(type, field, PLAIN_TO_CLASS).length === 0 &&
    defaultMetadataStorage.findTypeMetadata(type, field) === undefined
  );
}
