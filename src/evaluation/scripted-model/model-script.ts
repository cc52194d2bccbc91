import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { codeOf, SettingUnusableError } from '../../config/start.error.js';

/** A regular expression over text; its named groups are values of the answer. */
const pattern = z
  .string()
  .max(4_096)
  .transform((text, context) => {
    try {
      return new RegExp(text, 's');
    } catch {
      context.addIssue('must be a regular expression');
      return z.NEVER;
    }
  });

const condition = z.strictObject({
  /** What the system and user messages, one after the other, must match. */
  prompt: pattern.optional(),
  /** Tools that must be offered. */
  offered: z.array(z.string()).default([]),
  /** Tools that must not be offered. */
  notOffered: z.array(z.string()).default([]),
  /** Tools that must have answered, and what their last answers must match. */
  results: z.record(z.string(), pattern).default({}),
  /** Tools that must not have been called yet. */
  notCalled: z.array(z.string()).default([]),
});

const toolCall = z.strictObject({
  tool: z.string().min(1),
  /** Any JSON with `${name}` references. */
  arguments: z.record(z.string(), z.json()).default({}),
});

const rule = z
  .strictObject({
    when: condition.prefault({}),
    /** What the model says beside its calls, with references; for people who read a trace. */
    says: z.string().optional(),
    /** Tools to call, all at once. */
    calls: z.array(toolCall).min(1).optional(),
    /** The final answer: a text, or JSON that is sent as text, with references. */
    answers: z.json().optional(),
  })
  .refine(
    ({ calls, answers }) => (calls === undefined) !== (answers === undefined),
    'must have either calls or answers',
  );

const modelScript = z.strictObject({
  description: z.string().optional(),
  /** Name of the model, as requests give it. */
  model: z.string().regex(/^[\w.:/-]{1,128}$/, 'must be a model name'),
  rules: z.array(rule).min(1),
});

/** What a scripted model answers, and when: the first rule whose conditions all hold. The format is in docs/agents.md. */
export type ModelScript = z.output<typeof modelScript>;
export type ScriptRule = ModelScript['rules'][number];

/** @throws z.ZodError naming each member that is wrong */
export function parseModelScript(value: unknown): ModelScript {
  return modelScript.parse(value);
}

/**
 * Reads a script from a file.
 * @throws SettingUnusableError when it cannot be read or is no script
 */
export async function readModelScript(path: string): Promise<ModelScript> {
  try {
    return parseModelScript(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      throw new SettingUnusableError(`EVALUATION_MODEL_SCRIPT: there is no file ${basename(path)}`, error);
    }
    const reason = error instanceof z.ZodError ? ` (${placeOf(error)})` : '';
    throw new SettingUnusableError(`EVALUATION_MODEL_SCRIPT names a file that is no script${reason}`, error);
  }
}

function placeOf({ issues: [issue] }: z.ZodError): string {
  return issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`;
}
