import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsDate, IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min } from 'class-validator';
import type { Shown } from '../openapi/answer-fields.decorators.js';
import { given } from '../given.js';
import { parseDateTime } from '#engine/support';
import { IsText, PROCESS_NAME, MatchesPathId, PATH_ID_PATTERN } from './patterns.decorators.js';
import { pageLimits } from './page.limits.js';

const MAX_PAGE_LIMIT = 100;

/** The largest whole number that a path or query may hold: beyond it numbers are rounded. */
export const MAX_WHOLE_NUMBER = Number.MAX_SAFE_INTEGER;

/** A whole number as a path or query writes it; anything else stays text, which the rules refuse. */
export const toNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;

/** A whole number from `min` to `max`, read by {@link toNumber}. */
export const IsWholeNumber = (min: number, max: number): PropertyDecorator =>
  applyDecorators(
    Transform(toNumber),
    IsInt({ message: 'must be a whole number' }),
    Min(min, { message: `must be at least ${min}` }),
    Max(max, { message: `must be at most ${max}` }),
  );

/** A member of a query that may be left out. */
export const IsInQuery = <Value>(
  options: ApiPropertyOptions,
  ...rules: PropertyDecorator[]
): Shown<Value | undefined> => applyDecorators(ApiPropertyOptional(options), ...rules, IsOptional());

/** A moment as a query writes it; the `+` of an offset may have become a space. */
const toDate = ({ value }: { value: unknown }): unknown => {
  const moment = typeof value === 'string' ? parseDateTime(value.replace(' ', '+')) : undefined;
  return moment === undefined ? value : new Date(moment);
};

/** A whole number in a query, from `min` to `max`. May be left out. */
export const IsQueryNumber = (
  { min, max = MAX_WHOLE_NUMBER }: { min: number; max?: number },
  description: string,
): Shown<number | undefined> =>
  IsInQuery<number>({ type: 'integer', minimum: min, maximum: max, description }, IsWholeNumber(min, max));

/** How many entries a page has. */
export const IsPageLimit = (entries: string, max = MAX_PAGE_LIMIT): Shown<number | undefined> =>
  IsQueryNumber({ min: 1, max }, `${entries} in a page; ${pageLimits.size} without it.`);

const REPEATED = Symbol('repeated');

/** A text in a query that may be given more than once, as a list. May be left out. */
export const IsQueryList = (
  {
    pattern,
    maxLength,
    most,
    message,
  }: { pattern: string; maxLength: number; most: number; message: string },
  options: ApiPropertyOptions,
): Shown<string[] | undefined> =>
  IsInQuery<string[]>(
    { type: 'array', items: { type: 'string', pattern, maxLength }, maxItems: most, ...options },
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value)),
    ArrayMaxSize(most, { message: `must be given at most ${most} times` }),
    // One message for both, which says what to write. What makes requests of the document knows no lookahead.
    Matches(new RegExp(`^(?=[^]{0,${maxLength}}$)(?:${pattern})`, 'u'), { each: true, message }),
    (dto: object, name: string | symbol) =>
      Reflect.defineMetadata(REPEATED, [...repeatedIn(dto.constructor), String(name)], dto.constructor),
  );

/** Fields of a DTO class that a query may have more than once. */
export function repeatedIn(dto: object | undefined): readonly string[] {
  return dto === undefined ? [] : ((Reflect.getMetadata(REPEATED, dto) ?? []) as string[]);
}

/** An id in a query, such as that of an application. May be left out. */
export const IsQueryId = (description: string): Shown<string | undefined> =>
  IsInQuery({ type: String, pattern: PATH_ID_PATTERN, description }, MatchesPathId());

/** The name of a process in a query. May be left out. */
export const IsQueryProcessName = (description: string, example?: string): Shown<string | undefined> =>
  IsInQuery(
    { type: String, pattern: PROCESS_NAME.pattern.source, description, ...given({ example }) },
    Matches(PROCESS_NAME.pattern, { message: 'must be the name of a process' }),
  );

/**
 * One of some names in a query. May be left out.
 * @param enumName of its schema in the OpenAPI document
 */
export const IsQueryName = <Name extends string>(
  enumName: string,
  names: readonly Name[],
  description: string,
  { example, message }: { example?: string; message?: string } = {},
): Shown<Name | undefined> =>
  IsInQuery<Name>(
    { enum: [...names], enumName, description, ...given({ example }) },
    IsIn(names, { message: message ?? `must be one of ${names.join(', ')}` }),
  );

/** A text of 1 to `max` characters in a query. May be left out. */
export const IsQueryText = (max: number, description: string): Shown<string | undefined> =>
  applyDecorators(IsText(1, max, { required: false, description }), IsOptional());

/** RFC 9562, section 4: read in either case, written in lower case, as it is stored. */
const toLowerCase = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.toLowerCase() : value;

/** A UUID in a query. May be left out. */
export const IsQueryUuid = (description: string): Shown<string | undefined> =>
  IsInQuery(
    { format: 'uuid', description },
    Transform(toLowerCase),
    IsUUID(undefined, { message: 'must be a UUID' }),
  );

/** A UUID of version 7 (RFC 9562, section 5.7), in either case. */
const PAGE_CURSOR_PATTERN =
  '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$';

/** Where a page goes on: the id, a UUID of version 7, that the page before gave as `next`. May be left out. */
export const IsPageCursor = (): Shown<string | undefined> =>
  IsInQuery(
    {
      type: String,
      pattern: PAGE_CURSOR_PATTERN,
      description: 'The `next` of the page before: a UUID of version 7.',
      example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
    },
    Transform(toLowerCase),
    IsUUID('7', { message: 'must be the next of a page' }),
  );

/** A moment in a query, in RFC 3339 or ISO 8601; UTC where it has no offset. May be left out. */
const IsQueryMoment = (options: ApiPropertyOptions): Shown<Date | undefined> =>
  IsInQuery<Date>(
    { type: String, format: 'date-time', ...options },
    Transform(toDate),
    IsDate({ message: 'must be an ISO 8601 date and time' }),
  );

/** The time range of a list, of which the end is not a part. */
export const inRange = (entries: string) => ({
  from: IsQueryMoment({ description: `Only ${entries} at this time or later; UTC without an offset.` }),
  to: IsQueryMoment({ description: `Only ${entries} before this time.` }),
});

/** Which page of a list. */
export const inPages = (entries: string, max?: number) => ({
  before: IsPageCursor(),
  limit: IsPageLimit(entries, max),
});
