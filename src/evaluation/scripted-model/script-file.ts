import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { placeOfFault } from '../../common/json-fault.js';
import { codeOf } from '../../config/start.error.js';
import { parseModelScript, type ModelScript } from './model-script.js';

/** Thrown for a file that is no script any more; says which file, where in it, and what is wrong. */
export class ScriptFileError extends Error {
  override readonly name = 'ScriptFileError';
}

/** Reads a script for each call, so that a change counts from the next call on; the same text is parsed once. */
export class ScriptFile {
  private known: { text: string; script: ModelScript } | undefined;

  constructor(private readonly path: string) {}

  /** @throws ScriptFileError when it is no script */
  async read(): Promise<ModelScript> {
    let text = '';
    try {
      text = await readFile(this.path, 'utf8');
      if (this.known?.text !== text) {
        this.known = { text, script: parseModelScript(JSON.parse(text)) };
      }
      return this.known.script;
    } catch (error) {
      throw new ScriptFileError(`${basename(this.path)} is no script: ${placeOf(error, text)}.`);
    }
  }
}

function placeOf(error: unknown, text: string): string {
  if (error instanceof z.ZodError) {
    const [issue] = error.issues;
    return `${issue?.path.join('.')}: ${issue?.message}`;
  }
  return error instanceof SyntaxError ? `line ${placeOfFault(error, text).line}: no JSON` : codeOf(error);
}
