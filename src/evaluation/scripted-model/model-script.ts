import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { placeOfFault } from '#engine/json';
import { codeOf, SettingUnusableError } from '../../platform/config/start.error.js';

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
  prompt: pattern.optional(),
  offered: z.array(z.string()).default([]),
  notOffered: z.array(z.string()).default([]),
  results: z.record(z.string(), pattern).default({}),
  notCalled: z.array(z.string()).default([]),
});

const toolCall = z.strictObject({
  tool: z.string().min(1),
  arguments: z.record(z.string(), z.json()).default({}),
});

const rule = z
  .strictObject({
    when: condition.prefault({}),
    /** Text of the model in addition to its calls, with references; for readers of traces. */
    says: z.string().optional(),
    calls: z.array(toolCall).min(1).optional(),
    answers: z.json().optional(),
  })
  .refine(
    ({ calls, answers }) => (calls === undefined) !== (answers === undefined),
    'must have either calls or answers',
  );

const modelScript = z.strictObject({
  description: z.string().optional(),
  model: z.string().regex(/^[\w.:/-]{1,128}$/, 'must be a model name'),
  rules: z.array(rule).min(1),
});

/** Script of a scripted model: the first rule whose conditions all match is applied. The format is in docs/agents.md. */
export type ModelScript = z.output<typeof modelScript>;
export type ScriptRule = ModelScript['rules'][number];

/** Parses a script. @throws z.ZodError describing each invalid member */
export function parseModelScript(value: unknown): ModelScript {
  return modelScript.parse(value);
}

/**
 * Reads a script from a file.
 * @throws SettingUnusableError when it cannot be read or is not a script
 */
export async function readModelScript(path: string): Promise<ModelScript> {
  try {
    return parseModelScript(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      throw new SettingUnusableError(
        `EVALUATION_MODEL_SCRIPT: the file ${basename(path)} does not exist`,
        error,
      );
    }
    const reason = error instanceof z.ZodError ? ` (${placeOf(error)})` : '';
    throw new SettingUnusableError(`EVALUATION_MODEL_SCRIPT is not a valid script${reason}`, error);
  }
}

/** Thrown when a script file has become invalid; names the file, the place and the problem. */
export class ScriptFileError extends Error {
  override readonly name = 'ScriptFileError';
}

/** Reads a script for each call, so that changes take effect with the next call; unchanged text is not parsed again. */
export class ScriptFile {
  private known: { text: string; script: ModelScript } | undefined;

  constructor(private readonly path: string) {}

  /** @throws ScriptFileError when it is not a valid script */
  async read(): Promise<ModelScript> {
    let text = '';
    try {
      text = await readFile(this.path, 'utf8');
      if (this.known?.text !== text) {
        this.known = { text, script: parseModelScript(JSON.parse(text)) };
      }
      return this.known.script;
    } catch (error) {
      throw new ScriptFileError(`${basename(this.path)} is not a valid script: ${faultOf(error, text)}.`);
    }
  }
}

function faultOf(error: unknown, text: string): string {
  if (error instanceof z.ZodError) {
    return placeOf(error);
  }
  return error instanceof SyntaxError ? `line ${placeOfFault(error, text).line}: not JSON` : codeOf(error);
}

/** Describes the first problem of a value and its place. */
export function placeOf({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.')}: ${issue?.message}`;
}
