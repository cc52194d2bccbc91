import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

/** Description of `next` in a page. */
export const NEXT_PAGE = 'Give it as `before` to read on; null on the last page.';
/** The same in a list that is read forward. */
export const NEXT_PAGE_AFTER = 'Give it as `after` to read on; null on the last page.';

type FieldDecorator = (description: string, example?: unknown) => PropertyDecorator;

/** Makes the decorator of one kind of member of an answer. */
export const shows =
  (kind: ApiPropertyOptions): FieldDecorator =>
  (description, example) =>
    ApiProperty({ ...kind, description, ...(example === undefined ? {} : { example }) });

/** Decorators of members of answers: what the OpenAPI document says of them. */
export const Shows = {
  value: shows({}),
  textOrNull: shows({ type: String, nullable: true }),
  texts: shows({ type: [String] }),
  textsOrNull: shows({ type: [String], nullable: true }),
  booleanOrNull: shows({ type: Boolean, nullable: true }),
  number: shows({ type: 'integer' }),
  numberOrNull: shows({ type: 'integer', nullable: true }),
  decimalOrNull: shows({ type: Number, nullable: true }),
  /** As `numberOrNull`; not in every answer. */
  numberIfAsked: shows({ type: 'integer', nullable: true, required: false }),
  uuid: shows({ format: 'uuid' }),
  uuidOrNull: shows({ type: String, format: 'uuid', nullable: true }),
  /** As `uuid`; not in every answer. */
  uuidIfAsked: shows({ format: 'uuid', required: false }),
  /** ISO 8601, UTC with milliseconds. */
  moment: shows({ format: 'date-time' }),
  momentOrNull: shows({ type: String, format: 'date-time', nullable: true }),
  object: shows({ type: 'object', additionalProperties: true }),
  objectOrNull: shows({ type: 'object', additionalProperties: true, nullable: true }),

  enum: (name: string, values: ApiPropertyOptions['enum'], description: string, example?: unknown) =>
    shows({ enum: values, enumName: name } as ApiPropertyOptions)(description, example),

  /**
   * Another class of answers; a function names it, since classes may refer to each other. Swagger knows such a function by its
   * name, `type`, so each of the three makes its own.
   */
  part: (type: () => Type, description: string) => shows({ type: () => type() })(description),
  partOrNull: (type: () => Type, description: string) =>
    shows({ type: () => type(), nullable: true })(description),
  list: (type: () => Type, description: string) => shows({ type: () => [type()] })(description),
  /** As `list`; not in every answer. */
  listIfAsked: (type: () => Type, description: string) =>
    shows({ type: () => [type()], required: false })(description),
};
