import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsDate, IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import type { Settings } from '../../config/env.schema.js';
import { parseDateTime } from '../iso-8601.js';

const MAX_PAGE_LIMIT = 100;

/** Settings that say how many entries a page has. */
type PageSize = Extract<keyof Settings, `${string}_PAGE_SIZE`>;

/** A whole number as a path or query writes it; anything else stays text, which the rules refuse. */
export const toNumber = ({ value }: { value: unknown }): unknown =>
  /^\d{1,15}$/.test(String(value)) ? Number(value) : value;

/** A moment as a query writes it; the `+` of an offset may have become a space. */
const toDate = ({ value }: { value: unknown }): unknown => {
  const moment = typeof value === 'string' ? parseDateTime(value.replace(' ', '+')) : undefined;
  return moment === undefined ? value : new Date(moment);
};

/** A whole number in a query, from `min` to `max` where there is one. May be left out. */
export const IsQueryNumber = (
  { min, max }: { min: number; max?: number },
  options: ApiPropertyOptions,
): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: min,
      ...(max === undefined ? {} : { maximum: max }),
      ...options,
    }),
    Transform(toNumber),
    IsOptional(),
    IsInt({ message: 'must be a whole number' }),
    Min(min, { message: `must be at least ${min}` }),
    ...(max === undefined ? [] : [Max(max, { message: `must be at most ${max}` })]),
  );

/**
 * How many entries a page has.
 * @param entries what they are, in the plural
 * @param setting holds without it
 */
export const IsPageLimit = (entries: string, setting: PageSize, max = MAX_PAGE_LIMIT): PropertyDecorator =>
  IsQueryNumber(
    { min: 1, max },
    {
      description: `${entries} in a page; \`${setting}\` without it, 50 unless the deployment says otherwise.`,
    },
  );

/** RFC 9562, section 4: read in either case, written in lower case, as it is stored. */
const toLowerCase = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.toLowerCase() : value;

/** A UUID in a query. May be left out. */
export const IsQueryUuid = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ format: 'uuid', description }),
    Transform(toLowerCase),
    IsUUID(undefined, { message: 'must be a UUID' }),
    IsOptional(),
  );

/** Where a page goes on: the id, a UUID of version 7, that the page before gave as `next`. May be left out. */
export const IsPageCursor = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ format: 'uuid', description: 'The `next` of the page before.' }),
    Transform(toLowerCase),
    IsUUID('7', { message: 'must be the next of a page' }),
    IsOptional(),
  );

/** A moment in a query, in ISO 8601; UTC where it has no offset. May be left out. */
const IsQueryMoment = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time', description }),
    Transform(toDate),
    IsDate({ message: 'must be an ISO 8601 date and time' }),
    IsOptional(),
  );

/** Where a time range of a list begins, with the range: "Only … at this time or later". */
export const IsRangeStart = (entries: string): PropertyDecorator =>
  IsQueryMoment(`Only ${entries} at this time or later; UTC without an offset.`);

/** Where a time range of a list ends, without the range. */
export const IsRangeEnd = (entries: string): PropertyDecorator =>
  IsQueryMoment(`Only ${entries} before this time.`);
