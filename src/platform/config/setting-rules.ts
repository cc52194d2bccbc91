import { z } from 'zod';

const numberWithin = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** A whole number from `min` to `max`. */
export const integer = (min: number, max: number, fallback: number) =>
  numberWithin(min, max).default(fallback);

/** A power of two up to `max`. */
export const powerOfTwo = (max: number, fallback: number) =>
  integer(1, max, fallback).refine((value) => Number.isInteger(Math.log2(value)), 'must be a power of two');

/** Optional name of a database object. */
export const identifier = z
  .string()
  .regex(/^\w{1,64}$/, 'must be 1 to 64 letters, digits or _')
  .optional();

/** `true` or `false`. */
export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .transform((value) => value === 'true')
    .default(fallback);

/** Comma-separated values, trimmed; empty ones are dropped. */
export const list = (fallback: string[] = []) =>
  z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .default(fallback);

/** Address of an HTTP server. */
export const httpUrl = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
    'must be an http or https URL',
  );

/** Address of an HTTP server to which paths are appended. Other parts could get lost or show up in errors. */
export const bareHttpUrl = httpUrl.refine(isBare, 'must be without user information, query and fragment');

/** Scheme, host and port of a site (RFC 6454, section 6.2), in the notation of browsers. */
export const origin = () =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && new URL(value).origin === value && /^https?:/.test(value),
      'must be an origin such as https://svc.example.com',
    );

/** Optional name of a permission of PERMISSION_RULES. Without it, no permission is required. */
export const permission = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be 1 to 64 lower-case letters, digits or -')
  .optional();

function isBare(value: string): boolean {
  return !URL.canParse(value) || (hasNoCredentials(value) && !/[?#]/.test(value));
}

/** Returns whether an address has no credentials. Other rules reject invalid URLs. */
export function hasNoCredentials(value: string): boolean {
  return !URL.canParse(value) || (new URL(value).username === '' && new URL(value).password === '');
}

/** A setting in JSON. Errors contain the rule, never a value. */
export const json = <Schema extends z.ZodType>(schema: Schema, rule: string) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue('must be JSON');
        return z.NEVER;
      }
    })
    .transform((value, context): z.output<Schema> => {
      const read = schema.safeParse(value);
      if (!read.success) {
        context.addIssue(rule);
        return z.NEVER;
      }
      return read.data;
    });
