import type { Env } from '../../config/env.js';
import { readModelScript, ScriptFile } from './model-script.js';
import { ScriptedModel } from './scripted-model.server.js';

/**
 * The model of evaluation mode: a scripted one, unless LLM_BASE_URL names another.
 * Its file is read for each call, so a change counts from the next one on.
 * @param sampleScript file that it answers from where EVALUATION_MODEL_SCRIPT names none
 * @throws SettingUnusableError
 */
export async function startEvaluationModel(
  env: Env,
  sampleScript: string,
): Promise<ScriptedModel | undefined> {
  if (env.get('LLM_BASE_URL') !== undefined) {
    return undefined;
  }
  const path = env.variable('EVALUATION_MODEL_SCRIPT') ?? sampleScript;
  const script = await readModelScript(path);
  const file = new ScriptFile(path);
  return ScriptedModel.start(script, 0, undefined, {
    read: () => file.read(),
    tell: (line) => process.stderr.write(`scripted model: ${line}\n`),
  });
}
