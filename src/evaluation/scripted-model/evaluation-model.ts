import type { Env } from '../../config/env.js';
import { readModelScript } from './model-script.js';
import { ScriptedModel } from './scripted-model.server.js';

/**
 * The model of evaluation mode: a scripted one, unless LLM_BASE_URL names another.
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
  const script = await readModelScript(env.get('EVALUATION_MODEL_SCRIPT') ?? sampleScript);
  return ScriptedModel.start(script, env.get('EVALUATION_MODEL_PORT'));
}
