import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DialThread } from '../../platform/outbound/thread/dial-thread.js';
import { Env } from '../../platform/config/env.js';
import { OpenAiModelClient } from '../../runtime/calls/agents/llm/openai-model.client.js';
import { ScriptedModel } from './scripted-model.server.js';
import { parseModelScript } from './model-script.js';

const RULES = [{ when: { prompt: 'nothing like this' }, answers: {} }];

/** Returns the advice in an agent's error for a request that matches no rule. */
async function adviceOf(env: Env): Promise<unknown> {
  const thread = new DialThread();
  try {
    const client = new OpenAiModelClient(env, thread);
    const { signal } = new AbortController();
    const messages = [{ role: 'user' as const, content: 'Add.' }];
    const request = {
      messages,
      tools: [],
      answerSchema: {},
      signal,
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    };
    return await client.ask(request).catch((error: { advice: unknown }) => error.advice);
  } finally {
    await thread.onModuleDestroy();
  }
}

describe('an agent whose request the scripted model rejects', () => {
  let model: ScriptedModel;
  beforeAll(async () => {
    model = await ScriptedModel.start(parseModelScript({ model: 'scripted', rules: RULES }));
  });
  afterAll(() => model.close());

  it('reports which rule is missing, in evaluation mode', async () => {
    const env = Env.parse('evaluation', {}, { LLM_BASE_URL: model.url, LLM_MODEL: model.name });
    expect(await adviceOf(env)).toBe(
      'The scripted model says: No rule of the script matches this request. The last user message: "Add.". ' +
        'Tools offered: none. Tools called so far: none. rules.0: "prompt" does not match.',
    );
  });

  it.each(['evaluation', 'maintenance'] as const)(
    'shows no text of a model that an operator configured, in %s mode',
    async (mode) => {
      const settings = { LLM_BASE_URL: model.url, LLM_MODEL: model.name };
      expect(await adviceOf(Env.parse(mode, settings))).toMatch(
        /^The model endpoint rejected the request: check LLM_MODEL/,
      );
    },
  );

  it('shows no text of the model in other modes', async () => {
    const env = Env.parse('maintenance', {}, { LLM_BASE_URL: model.url, LLM_MODEL: model.name });
    expect(await adviceOf(env)).not.toContain('rules');
  });
});
