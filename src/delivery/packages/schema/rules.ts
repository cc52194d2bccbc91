import { z } from 'zod';
import {
  isDotSegment,
  NO_DOT_SEGMENT,
  PATH_ID_PATTERN,
} from '../../../platform/validation/patterns.decorators.js';
import { RESOURCE_NAME, RESOURCE_NAME_MAX_LENGTH } from '../../../platform/validation/resource-name.js';

/** Rule for names of resources (docs/contract.md, section 2.1) and processes. */
export const resourceNameRule = z
  .string()
  .min(1)
  .max(RESOURCE_NAME_MAX_LENGTH)
  .regex(RESOURCE_NAME, 'may contain letters, digits and [ ] ( ) . _ - only');

/** Rule of `isDotSegment` as JSON Schema, for published schemas. */
export const noDotSegment = { not: { enum: ['.', '..'] } };

/** Rule for ids that callers choose, such as those of applications and nodes. */
export const idRule = z
  .string()
  .regex(new RegExp(PATH_ID_PATTERN), 'must be 1 to 64 letters, digits, ".", "_" or "-"')
  .refine((id) => !isDotSegment(id), NO_DOT_SEGMENT)
  .meta(noDotSegment);

/** Returns the rule for a text of `min` to `max` characters without control characters other than line breaks and tabs. */
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

/** Rule for http or https URLs without fragment. Credentials are checked separately. */
export const urlRule = z
  .string()
  .max(2_048)
  .regex(
    /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[!-"$-.0-~][!-"$-~]*$/,
    'must be an http or https URL of printable ASCII without fragment',
  );

/** Rule for JSON objects with any contents. */
export const jsonObjectRule = z.record(z.string(), z.unknown());

/**
 * Returns the rule for JSON with `${…}` in its strings, given as JSON or as text, where references may also replace values without quotes.
 * Both are converted to text.
 * @param maxLength maximum length of the text, including converted JSON, so that it can be sent back as it is read
 */
export function jsonTemplateRule(maxLength: number): z.ZodType<string, string | object | unknown[]> {
  return z
    .union([z.string().max(maxLength), jsonObjectRule, z.array(z.unknown())], {
      error: 'must be a JSON object, an array, or JSON text',
    })
    .transform((json) => (typeof json === 'string' ? json : JSON.stringify(json)))
    .pipe(z.string().max(maxLength));
}

/** Returns the rule for a path below a folder of the package. */
export function fileRule(folder: string, extension: string): z.ZodString {
  return z
    .string()
    .regex(
      new RegExp(`^${folder}/[A-Za-z0-9[\\]()_-][A-Za-z0-9[\\]().\\-_]{0,199}\\.${extension}$`),
      `must be ${folder}/NAME.${extension}, NAME being at most 200 letters, digits and [ ] ( ) . _ -, not starting with a dot`,
    );
}
