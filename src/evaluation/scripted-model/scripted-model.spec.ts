import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseModelScript, readModelScript } from './model-script.js';
import { ScriptFile } from './model-script.js';
import { ScriptedModel } from './scripted-model.server.js';

const SCRIPT = parseModelScript({
  model: 'scripted',
  rules: [
    { when: { prompt: 'Hello' }, answers: 'Good day.' },
    {
      when: { prompt: 'add (?<a>\\d+) and (?<b>\\d+)', offered: ['get-sum'], notCalled: ['get-sum'] },
      says: 'First ${a} and ${b}.',
      calls: [
        { tool: 'get-sum', arguments: { a: '${a}', b: '${b}', note: 'of ${a}', more: [null, '${b}'] } },
      ],
    },
    {
      when: { results: { 'get-sum': 'is (?<sum>\\d+)' } },
      answers: { total: '${sum}', text: 'It is ${sum}${nothing}.' },
    },
    { when: { prompt: 'add', notOffered: ['get-sum'] }, answers: { total: null } },
    {
      when: { prompt: 'zip (?<zip>\\S+)' },
      calls: [{ tool: 'find-depot', arguments: { zip: '${zip}' } }],
    },
  ],
});

const ADD = { role: 'user', content: 'Please add 20 and 22.' };
const SUM = { type: 'function', function: { name: 'tools__get-sum', parameters: { type: 'object' } } };
const CALL = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'tools__get-sum', arguments: '{}' } }],
};
const RESULT = { role: 'tool', tool_call_id: 'c1', content: 'The sum is 42.' };

interface Completion {
  choices: { message: Record<string, unknown>; finish_reason: string }[];
  usage: Record<string, number>;
  error: { code: string; message: string };
}

let model: ScriptedModel;
beforeAll(async () => {
  model = await ScriptedModel.start(SCRIPT);
});
afterAll(() => model.close());

async function post(
  body: unknown,
  path = '/chat/completions',
): Promise<{ status: number; body: Completion }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${model.url}${path}`, { method: 'POST', body: text });
  return { status: response.status, body: (await response.json()) as Completion };
}

const ask = async (messages: unknown[], more: object = {}): Promise<Completion> => {
  const { status, body } = await post({ model: 'scripted', messages, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

describe('ScriptedModel', () => {
  it('answers with the text of the first matching rule', async () => {
    const { choices, usage } = await ask([{ role: 'user', content: 'Hello, add 1 and 2' }]);
    expect(choices[0]).toMatchObject({
      message: { role: 'assistant', content: 'Good day.' },
      finish_reason: 'stop',
    });
    expect(choices[0]?.message).not.toHaveProperty('tool_calls');
    expect(usage['total_tokens']).toBe((usage['prompt_tokens'] ?? 0) + (usage['completion_tokens'] ?? 0));
    expect(usage['prompt_tokens']).toBeGreaterThan(0);
  });

  it('calls a tool under its offered name, with values of the prompt', async () => {
    const { choices } = await ask([ADD], { tools: [SUM] });
    const { message, finish_reason: reason } = choices[0]!;
    const [call] = message['tool_calls'] as { id: string; function: { name: string; arguments: string } }[];
    expect(reason).toBe('tool_calls');
    expect(message['content']).toBe('First 20 and 22.');
    expect(call?.id).toMatch(/^call_\w+$/);
    expect(call?.function.name).toBe('tools__get-sum');
    expect(JSON.parse(call!.function.arguments)).toEqual({ a: 20, b: 22, note: 'of 20', more: [null, 22] });
  });

  it.each([
    ['0800', undefined, '0800'],
    ['007', undefined, '007'],
    ['8001', undefined, 8001],
    ['8001', 'string', '8001'],
    ['0', undefined, 0],
    ['-0.5', undefined, -0.5],
  ])('passes the text %j for an argument of type %s as %j', async (text, type, given) => {
    const parameters = { type: 'object', properties: { zip: type === undefined ? {} : { type } } };
    const tools = [{ type: 'function', function: { name: 'tools__find-depot', parameters } }];
    const { choices } = await ask([{ role: 'user', content: `zip ${text}` }], { tools });
    const [call] = choices[0]!.message['tool_calls'] as { function: { arguments: string } }[];
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ zip: given });
  });

  it('continues with values of the tool result', async () => {
    const { choices } = await ask([ADD, CALL, RESULT], { tools: [SUM] });
    expect(JSON.parse(String(choices[0]?.message['content']))).toEqual({ total: 42, text: 'It is 42.' });
  });

  it('recognizes a tool whose name has a fingerprint', async () => {
    const name = 'tools__get-sum_0123456789';
    const { choices } = await ask([ADD], {
      tools: [{ type: 'function', function: { name, parameters: { type: 'object' } } }],
    });
    expect(choices[0]?.message['tool_calls']).toMatchObject([{ function: { name } }]);
  });

  it('detects tools that are not offered', async () => {
    const { choices } = await ask([ADD]);
    expect(choices[0]?.message['content']).toBe('{"total":null}');
  });

  it('gives the same answer to the same request', async () => {
    const [one, other] = [await ask([ADD, CALL, RESULT]), await ask([ADD, CALL, RESULT])];
    expect(one.choices).toEqual(other.choices);
    expect(one.usage).toEqual(other.usage);
  });

  it('lists itself', async () => {
    const response = await fetch(`${model.url}/models`);
    expect(await response.json()).toMatchObject({ data: [{ id: 'scripted', object: 'model' }] });
  });

  it.each([
    ['no JSON', '{', 400, 'invalid_json'],
    ['no messages', { model: 'scripted', messages: [] }, 400, 'invalid_request'],
    ['a stream', { model: 'scripted', messages: [ADD], stream: true }, 400, 'invalid_request'],
    ['several choices', { model: 'scripted', messages: [ADD], n: 2 }, 400, 'invalid_request'],
    [
      'two tools with the same name',
      { model: 'scripted', messages: [ADD], tools: [SUM, SUM] },
      400,
      'invalid_request',
    ],
    [
      'a tool with an invalid name',
      { model: 'scripted', messages: [ADD], tools: [{ type: 'function', function: { name: 'a.b' } }] },
      400,
      'invalid_request',
    ],
    ['a call without its answer', { model: 'scripted', messages: [ADD, CALL, ADD] }, 400, 'invalid_request'],
    ['an answer without its call', { model: 'scripted', messages: [ADD, RESULT] }, 400, 'invalid_request'],
    ['another model', { model: 'gpt', messages: [ADD] }, 404, 'model_not_found'],
    [
      'a request that matches no rule',
      { model: 'scripted', messages: [{ role: 'user', content: 'x' }] },
      400,
      'no_rule',
    ],
  ])('rejects %s', async (_what, body, status, code) => {
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe(code);
  });

  it('rejects other paths', async () => {
    expect((await post({}, '/embeddings')).status).toBe(404);
  });
});

describe('a script in a file', () => {
  let folder: string;
  let path: string;
  let changing: ScriptedModel;
  const logged: string[] = [];
  const SAYS_ONE = { model: 'scripted', rules: [{ when: { prompt: 'add' }, answers: 'one' }] };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-script-'));
    path = join(folder, 'script.json');
    await writeFile(path, JSON.stringify(SAYS_ONE));
    const file = new ScriptFile(path);
    changing = await ScriptedModel.start(await readModelScript(path), {
      read: () => file.read(),
      log: (line) => logged.push(line),
    });
  });
  afterAll(async () => {
    await changing.close();
    await rm(folder, { recursive: true });
  });

  async function say(messages: unknown[], tools?: unknown[]): Promise<string> {
    const body = JSON.stringify({ model: 'scripted', messages, tools });
    const response = await fetch(`${changing.url}/chat/completions`, { method: 'POST', body });
    const { choices, error } = (await response.json()) as Partial<Completion>;
    return error === undefined ? String(choices?.[0]?.message['content']) : `${error.code}: ${error.message}`;
  }

  it('takes effect with the next call when it is changed', async () => {
    expect(await say([ADD])).toBe('one');
    const two = { ...SAYS_ONE, rules: [{ when: { prompt: 'add' }, answers: 'two' }] };
    await writeFile(path, JSON.stringify(two));
    expect(await say([ADD])).toBe('two');
  });

  it.each([
    ['{\n "model": "scripted",\n}', 'script_invalid: script.json is not a valid script: line 3: not JSON.'],
    [
      '{\n "model": "scripted"\n "rules": []\n\n}',
      'script_invalid: script.json is not a valid script: line 3: not JSON.',
    ],
    ['{\n "model": x,\n\n}', 'script_invalid: script.json is not a valid script: line 2: not JSON.'],
    ['{\n "model":', 'script_invalid: script.json is not a valid script: line 2: not JSON.'],
    ['{"model":"scripted","rules":[{}]}', 'rules.0: must have either calls or answers.'],
  ])('is rejected with the place while it is invalid: %j', async (text, message) => {
    await writeFile(path, text);
    expect(await say([ADD])).toContain(message);
    expect(logged.at(-1)).toContain(message.replace('script_invalid: ', ''));
    await writeFile(path, JSON.stringify(SAYS_ONE));
    expect(await say([ADD])).toBe('one');
  });

  it('reports a missing file, and recovers when it exists again', async () => {
    await rm(path);
    expect(await say([ADD])).toBe('script_invalid: script.json is not a valid script: ENOENT.');
    await writeFile(path, JSON.stringify(SAYS_ONE));
    expect(await say([ADD])).toBe('one');
  });

  it('reports which rule is missing, and why the others did not match', async () => {
    const rules = [
      { when: { prompt: 'multiply' }, answers: '' },
      { when: { offered: ['get-product'] }, answers: '' },
      { when: { notOffered: ['get-sum'] }, answers: '' },
      { when: { notCalled: ['get-sum'] }, answers: '' },
      { when: { results: { 'get-sum': 'is 7' } }, answers: '' },
      { when: { results: { 'get-product': '' } }, answers: '' },
    ];
    await writeFile(path, JSON.stringify({ model: 'scripted', rules }));
    const system = { role: 'system', content: `${'x'.repeat(300)} Task: add.` };
    const message = await say([system, ADD, CALL, RESULT], [SUM]);
    expect(message).toBe(
      'no_rule: No rule of the script matches this request. ' +
        `The task: "…${'x'.repeat(189)} Task: add.". The last user message: "Please add 20 and 22.". ` +
        'Tools offered: tools__get-sum. Tools called so far: tools__get-sum. rules.0: "prompt" does not match. ' +
        'rules.1: get-product is not offered. rules.2: get-sum is offered. rules.3: get-sum was called. ' +
        'rules.4: get-sum has answered something else. rules.5: get-product has not answered.',
    );
    expect(`no_rule: ${logged.at(-1)}`).toBe(message);
  });
});

describe('readModelScript', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-script-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['no JSON', '{', /not a valid script: SyntaxError$/],
    ['no rules', '{"model":"m","rules":[]}', /\(rules: /],
    [
      'a rule with calls and answers',
      '{"model":"m","rules":[{"answers":"","calls":[{"tool":"t"}]}]}',
      /either calls or/,
    ],
    ['an invalid pattern', '{"model":"m","rules":[{"when":{"prompt":"("},"answers":""}]}', /when\.prompt/],
    ['an unknown member', '{"model":"m","rules":[{"when":{"user":"x"},"answers":""}]}', /rules\.0\.when/],
  ])('names the setting for a file with %s', async (_what, text, message) => {
    const path = join(folder, 'script.json');
    await writeFile(path, text);
    await expect(readModelScript(path)).rejects.toThrow(message);
  });

  it('names the setting for a missing file', async () => {
    await expect(readModelScript(join(folder, 'none.json'))).rejects.toThrow(
      /^EVALUATION_MODEL_SCRIPT: the file none\.json does not exist: ENOENT$/,
    );
  });
});
