import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import type * as transformer from 'class-transformer/types/storage.js';
import { getMetadataStorage, ValidationTypes } from 'class-validator';

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

interface Check {
  readonly field: string;
  readonly keeps: (object: object, value: unknown) => boolean;
}

// Of the instance that the decorators fill; the library exports it nowhere else.
const { defaultMetadataStorage } = createRequire(import.meta.url)(
  'class-transformer/cjs/storage.js',
) as typeof transformer;
const PLAIN_TO_CLASS = 0;

/**
 * The rules of a class whose fields are taken as they were sent, each checked by itself. They are made of the decorators once.
 * The libraries behind the decorators look every rule up anew for every object.
 */
export class TextRules {
  private readonly fields: readonly string[];

  private constructor(
    private readonly type: Type<object>,
    private readonly checks: readonly Check[],
  ) {
    this.fields = [...new Set(checks.map(({ field }) => field))];
  }

  /** @returns undefined for a class without rules, and for one with decorators that do more */
  static of(type: Type<object>): TextRules | undefined {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    const isPlain = rules.every((rule) => isOfOneField(rule) && isTakenAsItIs(type, rule.propertyName));
    return rules.length > 0 && isPlain
      ? new TextRules(
          type,
          rules.flatMap((rule) => checksOf(type, rule)),
        )
      : undefined;
  }

  /** @returns an object of the class, without fields that it does not know; undefined when a rule is broken */
  check(sent: Readonly<Record<string, unknown>>): object | undefined {
    const object = new this.type() as Record<string, unknown>;
    for (const field of this.fields) {
      object[field] = sent[field];
    }
    return this.checks.every(({ field, keeps }) => keeps(object, object[field])) ? object : undefined;
  }
}

function isOfOneField({ type, each, validateIf, constraintCls }: Rule): boolean {
  const isSimple = type === ValidationTypes.CUSTOM_VALIDATION && !each && validateIf === undefined;
  return isSimple && constraintsOf(constraintCls).every(({ async }) => !async);
}

/** `@Transform` and `@Type` are all that classes of requests have of that library. */
function isTakenAsItIs(type: Type<object>, field: string): boolean {
  const storage = defaultMetadataStorage;
  return (
    storage.findTransformMetadatas(type, field, PLAIN_TO_CLASS).length === 0 &&
    storage.findTypeMetadata(type, field) === undefined
  );
}

function checksOf(type: Type<object>, { propertyName, constraintCls, constraints }: Rule): Check[] {
  return constraintsOf(constraintCls).map(({ instance }) => ({
    field: propertyName,
    keeps: (object, value) =>
      instance.validate(value, {
        targetName: type.name,
        property: propertyName,
        object,
        value,
        constraints,
      }) === true,
  }));
}

function constraintsOf(
  constraint: Rule['constraintCls'],
): ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidatorConstraints']> {
  return getMetadataStorage().getTargetValidatorConstraints(constraint);
}
