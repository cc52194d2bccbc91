import { z } from 'zod';

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
