import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import type * as transformer from 'class-transformer/types/storage.js';
import { getMetadataStorage, ValidationTypes } from 'class-validator';

// The storage that the decorators fill, which the library does not export elsewhere.
const { defaultMetadataStorage } = createRequire(import.meta.url)(
  'class-transformer/cjs/storage.js',
) as typeof transformer;
const PLAIN_TO_CLASS = 0;

/** Creates an object of a class, without unknown fields; returns undefined when a rule is broken. */
export type TextCheck = (sent: Readonly<Record<string, unknown>>) => object | undefined;

/**
 * Compiles the rules of a class whose fields are taken as sent and validated independently of each other. The libraries
 * behind the decorators look up every rule again for every object.
 * @returns undefined for a class without rules, or with decorators that do more
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
  if (rules.length === 0 || !isPlain || !fields.every((field) => isTakenAsSent(type, field))) {
    return undefined;
  }
  return (sent) => {
    const object = new type() as Record<string, unknown>;
    fields.forEach((field) => (object[field] = sent[field]));
    const isValid = rules.every(({ propertyName: property, constraints, checks }) => {
      const value = object[property];
      const args = { targetName: type.name, property, object, value, constraints };
      return checks.every(({ instance }) => instance.validate(value, args) === true);
    });
    return isValid ? object : undefined;
  };
}

/** Request classes use no other decorators of class-transformer than `@Transform` and `@Type`. */
function isTakenAsSent(type: Type<object>, field: string): boolean {
  return (
    defaultMetadataStorage.findTransformMetadatas(type, field, PLAIN_TO_CLASS).length === 0 &&
    defaultMetadataStorage.findTypeMetadata(type, field) === undefined
  );
}
