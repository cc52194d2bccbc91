import { z } from 'zod';
import {
  isDotSegment,
  NO_DOT_SEGMENT,
  PATH_ID_PATTERN,
} from '../../../platform/validation/patterns.decorators.js';
import { RESOURCE_NAME, RESOURCE_NAME_MAX_LENGTH } from '../../../platform/validation/resource-name.js';

/** The name rule of resources (docs/contract.md, section 2.1); process names keep it too. */
export const resourceNameRule = z
  .string()
  .min(1)
  .max(RESOURCE_NAME_MAX_LENGTH)
  .regex(RESOURCE_NAME, 'may contain letters, digits and [ ] ( ) . _ - only');

/** What `isDotSegment` refuses, in words of JSON Schema: a published schema says nothing of functions. */
export const noDotSegment = { not: { enum: ['.', '..'] } };

/** Ids that callers choose: of applications, builds and nodes. */
export const idRule = z
  .string()
  .regex(new RegExp(PATH_ID_PATTERN), 'must be 1 to 64 letters, digits, ".", "_" or "-"')
  .refine((id) => !isDotSegment(id), NO_DOT_SEGMENT)
  .meta(noDotSegment);

/** A text for people of `min` to `max` characters without control characters other than line breaks and tabs. */
export function textRule(min: number, max: number): z.ZodString {
  return (
    z
      .string()
      .min(min)
      .max(max)
      // eslint-disable-next-line no-control-regex
      .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/, 'must not contain control characters')
  );
}

/** An http or https URL without fragment; that it holds no credentials is checked besides. */
export const urlRule = z
  .string()
  .max(2_048)
  .regex(
    /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[!-"$-.0-~][!-"$-~]*$/,
    'must be an http or https URL of printable ASCII without fragment',
  );

/** A JSON object of any content. */
export const jsonObjectRule = z.record(z.string(), z.unknown());

/**
 * JSON with `${…}` in its strings: as JSON itself, or as text, in which references may also stand for values without quotes. Both are
 * read as text.
 * @param maxLength of the text, also of the one that JSON becomes: it can be written back as it is read
 */
export function jsonTemplateRule(maxLength: number): z.ZodType<string, string | object | unknown[]> {
  return z
    .union([z.string().max(maxLength), jsonObjectRule, z.array(z.unknown())], {
      error: 'must be a JSON object, an array, or JSON text',
    })
    .transform((json) => (typeof json === 'string' ? json : JSON.stringify(json)))
    .pipe(z.string().max(maxLength));
}

/** A path below one folder of the package. */
export function fileRule(folder: string, extension: string): z.ZodString {
  return z
    .string()
    .regex(
      new RegExp(`^${folder}/[A-Za-z0-9[\\]()_-][A-Za-z0-9[\\]().\\-_]{0,199}\\.${extension}$`),
      `must be ${folder}/NAME.${extension}, NAME being at most 200 letters, digits and [ ] ( ) . _ -, not starting with a dot`,
    );
}
