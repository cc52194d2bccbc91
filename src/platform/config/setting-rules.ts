import { z } from 'zod';

const numberWithin = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** A whole number in these bounds. */
export const integer = (min: number, max: number, fallback: number) =>
  numberWithin(min, max).default(fallback);

/** 1, 2, 4 and so on. */
export const powerOfTwo = (max: number, fallback: number) =>
  integer(1, max, fallback).refine((value) => Number.isInteger(Math.log2(value)), 'must be a power of two');

/** Name of something in a database; nothing without it. */
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

/** Comma-separated values, blanks around them left out. */
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

/** Address of an HTTP server to which paths are added: what else it can hold would get lost there, or into errors. */
export const bareHttpUrl = httpUrl.refine(isBare, 'must be without user information, query and fragment');

/** Scheme, host and port of a site (RFC 6454, section 6.2), written as browsers write it. */
export const origin = () =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && new URL(value).origin === value && /^https?:/.test(value),
      'must be an origin such as https://svc.example.com',
    );

/** Name of a permission of PERMISSION_RULES; none is asked for without it. */
export const permission = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be 1 to 64 small letters, digits or -')
  .optional();

function isBare(value: string): boolean {
  return !URL.canParse(value) || (holdsNoCredentials(value) && !/[?#]/.test(value));
}

/** Whether an address names no user; what is no URL is refused as such. */
export function holdsNoCredentials(value: string): boolean {
  return !URL.canParse(value) || (new URL(value).username === '' && new URL(value).password === '');
}

/** A setting written as JSON. Its values are never told: only the rule is. */
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
