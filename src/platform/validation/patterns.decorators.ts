import { PROCESS_NAME_PATTERN } from '#engine/definitions';
import { domainToASCII } from 'node:url';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type as Nested } from 'class-transformer';
import { type FieldDecorator, type Shown, Shows, shows } from '../openapi/answer-fields.decorators.js';
import {
  IsBoolean,
  IsDefined,
  IsObject,
  IsString,
  Matches,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  buildMessage,
} from 'class-validator';

/** Characters that break a line or change the direction of the text around them (Unicode TR 9, TR 36). */
// eslint-disable-next-line no-control-regex
const BREAKS_OR_TURNS = /[\t\n\r\u0080-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Invisible characters, except the joiners U+200C and U+200D and variation selectors, which scripts and emoji need. */
const INVISIBLE = /(?![\u200c\u200d\p{Variation_Selector}])\p{Default_Ignorable_Code_Point}/u;
/**
 * Flags such as that of Scotland: a black flag followed by its region in tag characters, which are invisible elsewhere
 * (Unicode TS 51, annex C).
 */
const FLAGS = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;

/**
 * Returns the problem of a name that people read next to others, as the end of a sentence (docs/contract.md, section
 * 2.1).
 */
export function displayNameFault(text: string): string | undefined {
  if (BREAKS_OR_TURNS.test(text)) {
    return 'must be one line without characters that change the direction of text';
  }
  return INVISIBLE.test(text.replaceAll(FLAGS, '')) ? 'must not contain invisible characters' : undefined;
}

/** Pattern in the OpenAPI document: generators of requests do not support lookahead. */
export const PATH_ID_PATTERN = '^[A-Za-z0-9._-]{1,64}$';
/**
 * Identifiers in paths and queries. "." and ".." are segments of paths (RFC 3986, section 3.3), so no client can send
 * them.
 */
const PATH_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
/** The message for "." and "..". */
export const NO_DOT_SEGMENT = 'must not be "." or "..", which are relative segments of a path';

/** Returns whether a text is a valid identifier in paths: of an application, a version, a build, a node. */
export function isPathId(text: string): boolean {
  return PATH_ID.test(text);
}

/** Returns whether a value is "." or "..", which clients resolve as relative segments of a path. */
export function isDotSegment(value: unknown): boolean {
  return value === '.' || value === '..';
}

function pathIdRule(value: unknown): string {
  return isDotSegment(value) ? NO_DOT_SEGMENT : 'must be 1 to 64 letters, digits, ".", "_" or "-"';
}

export const MatchesPathId = (): PropertyDecorator =>
  Matches(PATH_ID, { message: ({ value }) => pathIdRule(value) });
const URL_MAX_LENGTH = 2_048;

/** An identifier in a path or a query. */
export const IsPathId: FieldDecorator<string> = (...texts) =>
  applyDecorators(shows({ type: String, pattern: PATH_ID_PATTERN })(...texts), MatchesPathId());

/** Creates a validation rule from a check and the message for invalid values. */
const customRule = (
  name: string,
  validate: (value: unknown) => boolean,
  message: (value: unknown) => string,
) =>
  ValidateBy({
    name,
    validator: { validate, defaultMessage: buildMessage((_each, args) => message(args?.value)) },
  });

/**
 * A text of `min` to `max` characters, counted as the database counts them: by Unicode code point, variation selectors
 * included.
 */
export const HasLength = (min: number, max: number): PropertyDecorator =>
  customRule(
    'hasLength',
    (value) => typeof value === 'string' && hasLength(value, min, max),
    () => `must have ${min} to ${max} characters`,
  );

/** A text of `min` to `max` Unicode characters, without control characters other than line breaks and tabs. */
export const IsText = (min: number, max: number, options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: String, minLength: min, maxLength: max, ...options }),
    IsString({ message: 'must be a string' }),
    HasLength(min, max),
    // eslint-disable-next-line no-control-regex
    Matches(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/u, {
      message: 'must not contain control characters',
    }),
    Matches(/^[^\ud800-\udfff]*$/u, { message: 'must not contain half of a surrogate pair' }),
    ...(min === 0 ? [] : [Matches(/\S/, { message: 'must not be blank' })]),
  );

/** A name that people read next to others: one line of text that does not affect the text around it. */
export const IsDisplayName = (max: number, options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    IsText(1, max, options),
    customRule(
      'isDisplayName',
      (value) => typeof value !== 'string' || displayNameFault(value) === undefined,
      (value) => displayNameFault(String(value)) ?? '',
    ),
  );

/** A value of OAuth 2.0 credentials: printable ASCII (RFC 6749, appendix A.1 and A.2). */
export const IsCredential = (max: number, options: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: String, minLength: 1, maxLength: max, ...options }),
    IsString({ message: 'must be a string' }),
    HasLength(1, max),
    Matches(/^[\x20-\x7e]*$/, { message: 'must be printable ASCII' }),
  );

/** An http or https URL without credentials and fragment; an internationalised host name is converted by {@link withAsciiHost}. */
export const IsHttpUrl = (options: ApiPropertyOptions): Shown<string> =>
  applyDecorators(
    ApiProperty({ type: String, format: 'uri', maxLength: URL_MAX_LENGTH, ...options }),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? withAsciiHost(value) : value)),
    customRule(
      'isHttpUrl',
      isHttpUrl,
      () =>
        `must be an http or https URL of at most ${URL_MAX_LENGTH} characters, without credentials and fragment`,
    ),
  );

/** Skips the rules of a member that was not sent. null is validated like any other value. */
export const IfSent = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);

/** A boolean; strings such as "true" are invalid. */
export const IsFlag: FieldDecorator<boolean> = (...texts) =>
  applyDecorators(Shows.flag(...texts), IsBoolean({ message: 'must be true or false' }));

/** An object that is validated by the rules of its class. */
export const IsPart = (type: () => Type, description: string): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: () => type(), description }),
    Nested(type),
    IsDefined({ message: 'is required' }),
    IsObject({ message: 'must be an object' }),
    ValidateNested(),
  );

function hasLength(text: string, min: number, max: number): boolean {
  // A code point has at most two units; anything longer need not be counted.
  if (text.length > 2 * max) {
    return false;
  }
  const length = Array.from(text).length;
  return min <= length && length <= max;
}

/**
 * Converts the internationalised host name of an http or https URL to ASCII, as DNS knows it (UTS 46, RFC 5891):
 * `https://bücher.example/mcp` becomes `https://xn--bcher-kva.example/mcp`. Returns any other text unchanged.
 */
function withAsciiHost(url: string): string {
  const [, scheme, host, rest] = /^(https?:\/\/)([^/?#:@\s]+)((?:[:/?#].*)?)$/is.exec(url) ?? [];
  // eslint-disable-next-line no-control-regex
  if (scheme === undefined || host === undefined || /^[\x00-\x7f]*$/.test(host)) {
    return url;
  }
  const ascii = domainToASCII(host);
  return ascii === '' ? url : `${scheme}${ascii}${rest}`;
}

/**
 * Returns whether a value is an http or https URL without credentials and fragment, in exactly the form in which it is
 * called.
 */
export function isHttpUrl(value: unknown): boolean {
  // The URL parser drops tabs, line breaks and outer spaces: the stored address must be the called one.
  if (typeof value !== 'string' || value.length > URL_MAX_LENGTH || /[^\x21-\x7e]/.test(value)) {
    return false;
  }
  if (!/^https?:\/\/[^/]/i.test(value) || !URL.canParse(value)) {
    return false;
  }
  const { username, password, hash } = new URL(value);
  return username === '' && password === '' && hash === '' && !value.includes('#');
}

interface PathName {
  /** Characters and length, as in the OpenAPI document: generators of requests do not support lookahead. */
  readonly pattern: RegExp;
  readonly rule: string;
}

/** Names of processes (docs/contract.md, section 1). */
export const PROCESS_NAME: PathName = {
  pattern: PROCESS_NAME_PATTERN,
  rule: 'must be 1 to 64 letters, digits, ".", "_", "-", "[", "]", "(" or ")"',
};

/** Names of workflows: the name rule of resources, up to the length that a path allows. */
export const WORKFLOW_NAME: PathName = {
  pattern: /^[A-Za-z0-9[\]().\-_]{1,255}$/,
  rule: 'must be 1 to 255 letters, digits, "[", "]", "(", ")", ".", "_" or "-"',
};

/**
 * Returns whether a name is valid in a path. "." and ".." are segments of paths (RFC 3986, section 3.3), so no client
 * can send them.
 */
export function isPathName({ pattern }: PathName, name: string): boolean {
  return pattern.test(name) && !isDotSegment(name);
}

/** The name of a process or a workflow in a path. */
export const IsPathName = (
  { pattern, rule }: PathName,
  ...texts: Parameters<FieldDecorator<string>>
): Shown<string> =>
  applyDecorators(
    shows({ type: String, pattern: pattern.source })(...texts),
    Matches(new RegExp(`^(?!\\.{1,2}$)${pattern.source.slice(1)}`), {
      message: ({ value }) => (isDotSegment(value) ? NO_DOT_SEGMENT : rule),
    }),
  );
