import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsDate, IsIn, IsInt, IsOptional, IsUUID, Matches, Max, Min } from 'class-validator';
import type { Shown } from '../openapi/answer-fields.decorators.js';
import { withoutUndefined } from '../without-undefined.js';
import { parseDateTime } from '#engine/support';
import { IsText, PROCESS_NAME, MatchesPathId, PATH_ID_PATTERN } from './patterns.decorators.js';
import { pageLimits } from './page.limits.js';

const MAX_PAGE_LIMIT = 100;

/** Largest whole number in a path or query: larger ones would be rounded. */
export const MAX_WHOLE_NUMBER = Number.MAX_SAFE_INTEGER;

/** Converts a whole number in a path or query. Other text stays unchanged, for the rules to reject. */
export const toNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;

/** A whole number from `min` to `max`, converted by {@link toNumber}. */
export const IsWholeNumber = (min: number, max: number): PropertyDecorator =>
  applyDecorators(
    Transform(toNumber),
    IsInt({ message: 'must be a whole number' }),
    Min(min, { message: `must be at least ${min}` }),
    Max(max, { message: `must be at most ${max}` }),
  );

/** An optional member of a query. */
export const IsInQuery = <Value>(
  options: ApiPropertyOptions,
  ...rules: PropertyDecorator[]
): Shown<Value | undefined> => applyDecorators(ApiPropertyOptional(options), ...rules, IsOptional());

/** Parses a time in a query. Decoding may have turned the `+` of an offset into a space. */
const toDate = ({ value }: { value: unknown }): unknown => {
  const moment = typeof value === 'string' ? parseDateTime(value.replace(' ', '+')) : undefined;
  return moment === undefined ? value : new Date(moment);
};

/** An optional whole number in a query, from `min` to `max`. */
export const IsQueryNumber = (
  { min, max = MAX_WHOLE_NUMBER }: { min: number; max?: number },
  description: string,
): Shown<number | undefined> =>
  IsInQuery<number>({ type: 'integer', minimum: min, maximum: max, description }, IsWholeNumber(min, max));

/** Maximum number of entries in a page. */
export const IsPageLimit = (entries: string, max = MAX_PAGE_LIMIT): Shown<number | undefined> =>
  IsQueryNumber({ min: 1, max }, `${entries} per page; default ${pageLimits.size}.`);

const REPEATED = Symbol('repeated');

/** An optional text in a query that may be repeated, as a list. */
export const IsQueryList = (
  {
    pattern,
    maxLength,
    maxItems,
    message,
  }: { pattern: string; maxLength: number; maxItems: number; message: string },
  options: ApiPropertyOptions,
): Shown<string[] | undefined> =>
  IsInQuery<string[]>(
    { type: 'array', items: { type: 'string', pattern, maxLength }, maxItems, ...options },
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value)),
    ArrayMaxSize(maxItems, { message: `must be given at most ${maxItems} times` }),
    // One message for length and pattern, which explains what to write. The documented pattern has no lookahead,
    // because generators of requests do not support it.
    Matches(new RegExp(`^(?=[^]{0,${maxLength}}$)(?:${pattern})`, 'u'), { each: true, message }),
    (dto: object, name: string | symbol) =>
      Reflect.defineMetadata(REPEATED, [...repeatedIn(dto.constructor), String(name)], dto.constructor),
  );

/** Returns the fields of a DTO class that a query may repeat. */
export function repeatedIn(dto: object | undefined): readonly string[] {
  return dto === undefined ? [] : ((Reflect.getMetadata(REPEATED, dto) ?? []) as string[]);
}

/** An optional id in a query, such as that of an application. */
export const IsQueryId = (description: string): Shown<string | undefined> =>
  IsInQuery({ type: String, pattern: PATH_ID_PATTERN, description }, MatchesPathId());

/** An optional name of a process in a query. */
export const IsQueryProcessName = (description: string, example?: string): Shown<string | undefined> =>
  IsInQuery(
    { type: String, pattern: PROCESS_NAME.pattern.source, description, ...withoutUndefined({ example }) },
    Matches(PROCESS_NAME.pattern, { message: 'must be the name of a process' }),
  );

/**
 * An optional name in a query, one of a fixed set.
 * @param enumName name of its schema in the OpenAPI document
 */
export const IsQueryName = <Name extends string>(
  enumName: string,
  names: readonly Name[],
  description: string,
  { example, message }: { example?: string; message?: string } = {},
): Shown<Name | undefined> =>
  IsInQuery<Name>(
    { enum: [...names], enumName, description, ...withoutUndefined({ example }) },
    IsIn(names, { message: message ?? `must be one of ${names.join(', ')}` }),
  );

/** An optional text of 1 to `max` characters in a query. */
export const IsQueryText = (max: number, description: string): Shown<string | undefined> =>
  applyDecorators(IsText(1, max, { required: false, description }), IsOptional());

/** UUIDs are read in either case and stored in lower case (RFC 9562, section 4). */
const toLowerCase = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.toLowerCase() : value;

/** An optional UUID in a query. */
export const IsQueryUuid = (description: string): Shown<string | undefined> =>
  IsInQuery(
    { format: 'uuid', description },
    Transform(toLowerCase),
    IsUUID(undefined, { message: 'must be a UUID' }),
  );

/** A UUID of version 7 (RFC 9562, section 5.7), in either case. */
const PAGE_CURSOR_PATTERN =
  '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$';

/** Optional cursor of a page: the UUID version 7 that the previous page returned as `next`. */
export const IsPageCursor = (): Shown<string | undefined> =>
  IsInQuery(
    {
      type: String,
      pattern: PAGE_CURSOR_PATTERN,
      description: 'The `next` of the previous page, a UUID version 7.',
      example: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b40',
    },
    Transform(toLowerCase),
    IsUUID('7', { message: 'must be the value of next from a page' }),
  );

/** An optional time in a query, in RFC 3339 or ISO 8601; UTC if it has no offset. */
const IsQueryMoment = (options: ApiPropertyOptions): Shown<Date | undefined> =>
  IsInQuery<Date>(
    { type: String, format: 'date-time', ...options },
    Transform(toDate),
    IsDate({ message: 'must be an ISO 8601 date and time' }),
  );

/** The time range of a list; the end is exclusive. */
export const inRange = (entries: string) => ({
  from: IsQueryMoment({ description: `Only ${entries} at this time or later; UTC if it has no offset.` }),
  to: IsQueryMoment({ description: `Only ${entries} before this time.` }),
});

/** Query parameters of a paged list. */
export const inPages = (entries: string, max?: number) => ({
  before: IsPageCursor(),
  limit: IsPageLimit(entries, max),
});
