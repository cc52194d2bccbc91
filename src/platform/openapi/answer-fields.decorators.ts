import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

export const NEXT_PAGE = 'Pass it as `before` to get the next page; null on the last page.';
/** As NEXT_PAGE, for lists that page by `after`. */
export const NEXT_PAGE_AFTER = 'Pass it as `after` to get the next page; null on the last page.';

/**
 * Decorator of a response member that carries the type of the member. The type includes undefined if the member is
 * optional.
 */
export type Shown<Value> = PropertyDecorator & { readonly value?: () => Value };

/** Adds the type of the member to any other decorator. */
export const shown = <Value>(decorator: PropertyDecorator): Shown<Value> => decorator;

/** Creates the decorator of a member. */
export type FieldDecorator<Value> = (description: string, example?: unknown) => Shown<Value>;

/** Creates decorators for one kind of member. */
export const shows =
  <Value = string>(kind: ApiPropertyOptions): FieldDecorator<Value> =>
  (description, example) =>
    ApiProperty({ ...kind, description, ...(example === undefined ? {} : { example }) });

type Json = Record<string, unknown>;

/** Decorators of response members, which document them in OpenAPI. */
export const Shows = {
  value: shows({}),
  optionalValue: shows<string | undefined>({ required: false }),
  flag: shows<boolean>({ type: Boolean }),
  textOrNull: shows<string | null>({ type: String, nullable: true }),
  texts: shows<string[]>({ type: [String] }),
  optionalTexts: shows<string[] | undefined>({ type: [String], required: false }),
  textsOrNull: shows<string[] | null>({ type: [String], nullable: true }),
  booleanOrNull: shows<boolean | null>({ type: Boolean, nullable: true }),
  number: shows<number>({ type: 'integer' }),
  numberOrNull: shows<number | null>({ type: 'integer', nullable: true }),
  decimal: shows<number>({ type: Number }),
  decimalOrNull: shows<number | null>({ type: Number, nullable: true }),
  optionalNumber: shows<number | undefined>({ type: 'integer', required: false }),
  optionalNumberOrNull: shows<number | null | undefined>({
    type: 'integer',
    nullable: true,
    required: false,
  }),
  uuid: shows({ format: 'uuid' }),
  uuidOrNull: shows<string | null>({ type: String, format: 'uuid', nullable: true }),
  optionalUuid: shows<string | undefined>({ format: 'uuid', required: false }),
  /** ISO 8601 in UTC with milliseconds, as JSON serializes a Date. */
  moment: shows<Date | string>({ format: 'date-time' }),
  momentOrNull: shows<Date | string | null>({ type: String, format: 'date-time', nullable: true }),
  object: shows<Json>({ type: 'object', additionalProperties: true }),
  objectOrNull: shows<Json | null>({ type: 'object', additionalProperties: true, nullable: true }),

  enum: <Value extends string>(
    name: string,
    values: Readonly<Record<string, Value>> | readonly Value[],
    description: string,
    example?: unknown,
  ): Shown<Value> => shows<Value>({ enum: values, enumName: name })(description, example),

  /**
   * Another response class, returned by a function since classes may refer to each other. Swagger recognises such a
   * function by its name, `type`, so each decorator creates its own.
   */
  part: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part>({ type: () => type() })(description),
  partOrNull: <Part>(type: () => Type<Part>, description: string, example?: unknown) =>
    shows<Part | null>({ type: () => type(), nullable: true })(description, example),
  list: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part[]>({ type: () => [type()] })(description),
  optionalPart: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part | undefined>({ type: () => type(), required: false })(description),
  optionalList: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part[] | undefined>({ type: () => [type()], required: false })(description),
};

type ValueOf<Member> = Member extends { readonly value?: () => infer Value } ? Value : never;
type MayBeAbsent<Members> = {
  [Name in keyof Members]: undefined extends ValueOf<Members[Name]> ? Name : never;
}[keyof Members];

/** Type of a response with these members. */
export type AnswerOf<Members> = {
  [Name in Exclude<keyof Members, MayBeAbsent<Members>>]: ValueOf<Members[Name]>;
} & { [Name in MayBeAbsent<Members>]?: Exclude<ValueOf<Members[Name]>, undefined> };

/**
 * Creates a response class from its members, each a decorator that carries its type:
 *
 *     export class ServerDto extends Answer({ name: Shows.value('Name.', 'inventory') }) {}
 */
export function Answer<Members extends Readonly<Record<string, Shown<unknown>>>>(
  members: Members,
): Type<AnswerOf<Members>> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- its members come from the decorators
  return AnswerWith(class {} as Type, members) as Type<AnswerOf<Members>>;
}

/** As `Answer`, with the members of a base class first. */
export function AnswerWith<Base, Members extends Readonly<Record<string, Shown<unknown>>>>(
  base: Type<Base>,
  members: Members,
): Type<Base & AnswerOf<Members>> {
  class Answered extends (base as Type<object>) {}
  for (const [name, decorate] of Object.entries(members)) {
    // TypeScript would emit this for a decorated member. Decorators with a type of their own override it.
    Reflect.defineMetadata('design:type', String, Answered.prototype, name);
    decorate(Answered.prototype, name);
  }
  return Answered as Type<Base & AnswerOf<Members>>;
}

/** As `Answer`, for a body, path or query, whose decorators also validate. */
export const Fields = Answer;
export const FieldsWith = AnswerWith;

/**
 * Builds an example of a response from the examples of its members, in their order.
 * @param others values that replace those of members; undefined omits the member
 */
export function exampleOf(answer: Type<unknown>, others: Json = {}): Json {
  const prototype = answer.prototype as object;
  const members = Reflect.getMetadata('swagger/apiModelPropertiesArray', prototype) as string[];
  const shown = members.map((member) => {
    const name = member.slice(1);
    const kind = Reflect.getMetadata('swagger/apiModelProperties', prototype, name) as ApiPropertyOptions;
    return [name, name in others ? others[name] : exampleOfMember(kind)];
  });
  return Object.fromEntries(shown) as Json;
}

function exampleOfMember({ example, type }: { example?: unknown; type?: unknown }): unknown {
  if (example !== undefined || typeof type !== 'function' || type.name !== 'type') {
    return example;
  }
  const part = (type as () => Type<unknown> | [Type<unknown>])();
  return Array.isArray(part) ? [exampleOf(part[0])] : exampleOf(part);
}
