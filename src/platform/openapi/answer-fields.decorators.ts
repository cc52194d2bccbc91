import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

export const NEXT_PAGE = 'Give it as `before` to read on; null on the last page.';
/** The same in a list that is read forward. */
export const NEXT_PAGE_AFTER = 'Give it as `after` to read on; null on the last page.';

/** Decorates a member of an answer, and knows the type of the member; undefined is one of it where the member may be absent. */
export type Shown<Value> = PropertyDecorator & { readonly value?: () => Value };

/** Any other decorator, with the type of its member. */
export const shown = <Value>(decorator: PropertyDecorator): Shown<Value> => decorator;

/** Makes the decorator of a member. */
export type FieldDecorator<Value> = (description: string, example?: unknown) => Shown<Value>;

/** Makes decorators of one kind of member. */
export const shows =
  <Value = string>(kind: ApiPropertyOptions): FieldDecorator<Value> =>
  (description, example) =>
    ApiProperty({ ...kind, description, ...(example === undefined ? {} : { example }) });

type Json = Record<string, unknown>;

/** Decorators of members of answers: what the OpenAPI document says of them. */
export const Shows = {
  value: shows({}),
  /** As `value`; not in every answer. */
  valueIfAsked: shows<string | undefined>({ required: false }),
  flag: shows<boolean>({ type: Boolean }),
  textOrNull: shows<string | null>({ type: String, nullable: true }),
  texts: shows<string[]>({ type: [String] }),
  /** As `texts`; not in every answer. */
  textsIfAsked: shows<string[] | undefined>({ type: [String], required: false }),
  textsOrNull: shows<string[] | null>({ type: [String], nullable: true }),
  booleanOrNull: shows<boolean | null>({ type: Boolean, nullable: true }),
  number: shows<number>({ type: 'integer' }),
  numberOrNull: shows<number | null>({ type: 'integer', nullable: true }),
  decimal: shows<number>({ type: Number }),
  decimalOrNull: shows<number | null>({ type: Number, nullable: true }),
  /** As `number`; not in every answer. */
  countIfAsked: shows<number | undefined>({ type: 'integer', required: false }),
  /** As `numberOrNull`; not in every answer. */
  numberIfAsked: shows<number | null | undefined>({ type: 'integer', nullable: true, required: false }),
  uuid: shows({ format: 'uuid' }),
  uuidOrNull: shows<string | null>({ type: String, format: 'uuid', nullable: true }),
  /** As `uuid`; not in every answer. */
  uuidIfAsked: shows<string | undefined>({ format: 'uuid', required: false }),
  /** ISO 8601, UTC with milliseconds, which is how JSON has a Date. */
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
   * Another class of answers; a function names it, since classes may refer to each other. Swagger knows such a function by its
   * name, `type`, so each of the three makes its own.
   */
  part: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part>({ type: () => type() })(description),
  partOrNull: <Part>(type: () => Type<Part>, description: string, example?: unknown) =>
    shows<Part | null>({ type: () => type(), nullable: true })(description, example),
  list: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part[]>({ type: () => [type()] })(description),
  /** As `part`; not in every answer. */
  partIfAsked: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part | undefined>({ type: () => type(), required: false })(description),
  /** As `list`; not in every answer. */
  listIfAsked: <Part>(type: () => Type<Part>, description: string) =>
    shows<Part[] | undefined>({ type: () => [type()], required: false })(description),
};

type ValueOf<Member> = Member extends { readonly value?: () => infer Value } ? Value : never;
type MayBeAbsent<Members> = {
  [Name in keyof Members]: undefined extends ValueOf<Members[Name]> ? Name : never;
}[keyof Members];

/** An answer with these members. */
export type AnswerOf<Members> = {
  [Name in Exclude<keyof Members, MayBeAbsent<Members>>]: ValueOf<Members[Name]>;
} & { [Name in MayBeAbsent<Members>]?: Exclude<ValueOf<Members[Name]>, undefined> };

/**
 * Makes a class of answers of its members, each a decorator that knows its type:
 *
 *     export class ServerDto extends Answer({ name: Shows.value('Name.', 'inventory') }) {}
 */
export function Answer<Members extends Readonly<Record<string, Shown<unknown>>>>(
  members: Members,
): Type<AnswerOf<Members>> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- its members come from the decorators
  return AnswerWith(class {} as Type, members) as Type<AnswerOf<Members>>;
}

/** As `Answer`, with the members of another class before these. */
export function AnswerWith<Base, Members extends Readonly<Record<string, Shown<unknown>>>>(
  base: Type<Base>,
  members: Members,
): Type<Base & AnswerOf<Members>> {
  class Answered extends (base as Type<object>) {}
  for (const [name, decorate] of Object.entries(members)) {
    // As TypeScript says it of a decorated member; a decorator with a type of its own has the last word.
    Reflect.defineMetadata('design:type', String, Answered.prototype, name);
    decorate(Answered.prototype, name);
  }
  return Answered as Type<Base & AnswerOf<Members>>;
}

/** The same for a body, a path or a query, whose decorators check too. */
export const Fields = Answer;
export const FieldsWith = AnswerWith;

/**
 * An answer as its members show it, in their order: each as its example, or as that of its part.
 * @param others members that are otherwise here; undefined leaves one out
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
