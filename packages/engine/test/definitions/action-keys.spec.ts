import { beforeEach, describe, expect, it, vi } from 'vitest';
import { parsePath } from '../../src/paths/data-paths.js';
import { KnownMembers } from '../../src/json-schema/known-members.js';
import { bpmn, compileXml, flows, nodes } from './compile.js';

vi.mock('../../src/paths/data-paths.js', async (load) => {
  const real = await load<{ parsePath: typeof parsePath }>();
  return { ...real, parsePath: vi.fn(real.parsePath) };
});

interface Case {
  keys: string;
  schema?: unknown;
  body?: unknown;
  input?: unknown;
  exclude?: string;
  more?: string;
}

/** Returns the warnings about keys as `CODE quoted words`. */
async function warningsOf({ keys, schema, body, input, exclude = '', more = '' }: Case): Promise<string[]> {
  const json = (tag: string, value: unknown) =>
    value === undefined ? '' : `<svc:${tag}><![CDATA[${JSON.stringify(value)}]]></svc:${tag}>`;
  const inputSchema =
    input === undefined
      ? ''
      : `<bpmn:extensionElements>${json('inputSchema', input)}</bpmn:extensionElements>`;
  const { definitions, problems } = await compileXml(
    bpmn(
      `${inputSchema}${nodes('startEvent:s endEvent:z')}<bpmn:userTask id="a"><bpmn:extensionElements>
        <svc:actions><svc:action name="decide" manual="true" keys='${keys}'/>${more}</svc:actions>
        <svc:uiActions><svc:uiAction name="approve" action="decide" excludeKeys="${exclude}">${json('body', body)}${json('bodySchema', schema)}</svc:uiAction></svc:uiActions>
      </bpmn:extensionElements></bpmn:userTask>${flows('s>a a>z')}`,
    ),
  );
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(definitions).toHaveLength(1);
  return problems
    .filter(({ code }) => ['KEY_NAMES_NOTHING', 'INPUT_NOT_TAKEN'].includes(code))
    .map(({ code, message }) =>
      [code, ...[...message.matchAll(/"([^"]*)"/g)].map(([, word]) => word)].join(' '),
    );
}

const properties = (...names: string[]) => ({
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});
const CLIENT = { properties: { client: properties('name', 'address') } };

describe('keys and the input that schemas define', () => {
  it.each<[string, Case, string[]]>([
    [
      'a slip in a key',
      { keys: 'decison', schema: properties('decision') },
      ['KEY_NAMES_NOTHING decison decide decision', 'INPUT_NOT_TAKEN decide decision approve decison'],
    ],
    [
      'a key outside the schema',
      { keys: 'decision, xyz', schema: properties('decision') },
      ['KEY_NAMES_NOTHING xyz decide'],
    ],
    [
      'a slip below an object',
      { keys: 'client.nam', schema: CLIENT },
      [
        'KEY_NAMES_NOTHING client.nam decide client.name',
        'INPUT_NOT_TAKEN decide client.name approve client.nam',
        'INPUT_NOT_TAKEN decide client.address approve',
      ],
    ],
    [
      'a slip in the name of a start value',
      { keys: 'custommer', input: properties('customer') },
      ['KEY_NAMES_NOTHING custommer decide customer'],
    ],
    [
      'a member that no key takes',
      { keys: 'decision', schema: properties('decision', 'comment') },
      ['INPUT_NOT_TAKEN decide comment approve'],
    ],
    [
      'a default that no key takes',
      { keys: 'decision', body: { decision: 'yes', comment: '' } },
      ['INPUT_NOT_TAKEN decide comment approve'],
    ],
    [
      'a slip in the name of a required member',
      { keys: 'decison', schema: { ...properties('a'), required: ['decision'] }, exclude: 'a' },
      ['KEY_NAMES_NOTHING decison decide decision', 'INPUT_NOT_TAKEN decide decision approve decison'],
    ],
    [
      'the whole path where its beginning has a slip',
      { keys: 'clinet.name', schema: CLIENT },
      [
        'KEY_NAMES_NOTHING clinet.name decide client.name',
        'INPUT_NOT_TAKEN decide client approve clinet.name',
      ],
    ],
    [
      'two slips in one path, and names in brackets',
      {
        keys: 'clinet["post cod"]',
        schema: { properties: { client: properties('post code', 'note') } },
      },
      [
        'KEY_NAMES_NOTHING clinet[ ] decide client.post code',
        'INPUT_NOT_TAKEN decide client approve clinet[ ]',
      ],
    ],
    [
      'a key below which the schema says that nothing else is there',
      {
        keys: 'client.note',
        schema: { properties: { client: { ...properties('name'), additionalProperties: false } } },
      },
      ['KEY_NAMES_NOTHING client.note decide', 'INPUT_NOT_TAKEN decide client.name approve client.note'],
    ],
    [
      'input of an action without keys',
      { keys: '', schema: properties('decision') },
      ['INPUT_NOT_TAKEN decide decision approve'],
    ],
  ])('reports %s', async (_, given, expected) => {
    expect(await warningsOf(given)).toEqual(expected);
  });

  it.each<[string, Case]>([
    ['everything is taken', { keys: '*', schema: properties('decision') }],
    [
      'the schema requires it',
      { keys: 'a, decision', schema: { ...properties('a'), required: ['decision'] } },
    ],
    ['the schema describes nothing else', { keys: 'a, decision', schema: { required: ['decision'] } }],
    ['key and schema agree', { keys: 'decision', schema: properties('decision') }],
    ['a key takes an object as a whole', { keys: 'client', schema: CLIENT }],
    ['and so does one with a star', { keys: 'client.*', schema: CLIENT }],
    ['there is no schema', { keys: 'anything' }],
    ['the schema is open', { keys: 'anything', schema: { type: 'object' } }],
    [
      'an object of the schema is open',
      { keys: 'client.note', schema: { properties: { client: { type: 'object' } } } },
    ],
    ...[
      { patternProperties: { '^n': {} } },
      { additionalProperties: { type: 'string' } },
      { additionalProperties: true },
      { additionalProperties: {} },
    ].map((more): [string, Case] => [
      `an object of the schema has ${JSON.stringify(more)}`,
      {
        keys: 'client.name, client.note',
        schema: { properties: { client: { ...properties('name'), ...more } } },
      },
    ]),
    [
      'the default body names it',
      { keys: 'decision', body: { decision: 'yes' }, input: properties('decisions') },
    ],
    ['the input schema names it', { keys: 'amount', input: properties('amount') }],
    ['the input schema speaks of something else', { keys: 'decision', input: properties('amount') }],
    ['a short name is near to another', { keys: 'rate', input: properties('date') }],
    ['the member is excluded', { keys: 'decision', schema: properties('decision', 'csrf'), exclude: 'csrf' }],
    [
      'a list holds it',
      {
        keys: 'items[0].price',
        schema: { properties: { items: { type: 'array', items: properties('price') } } },
      },
    ],
    [
      'a reference leads to it',
      {
        keys: 'client.name',
        schema: { $defs: { c: properties('name') }, properties: { client: { $ref: '#/$defs/c' } } },
      },
    ],
    [
      'one of several schemas names it',
      { keys: 'a, b', schema: { oneOf: [properties('a'), properties('b')] } },
    ],
    [
      'a workflow writes it',
      {
        keys: 'score',
        schema: { $defs: {}, properties: {} },
        more: '<svc:action name="w" kind="startWorkflow" workflow="w" resultKey="score"/>',
      },
    ],
  ])('says nothing where %s', async (_, given) => {
    expect(await warningsOf(given)).toEqual([]);
  });

  it('ends for schemas that refer to themselves', async () => {
    const node = { properties: { next: { $ref: '#/$defs/node' }, value: {} } };
    const schema = { $defs: { node }, properties: { list: { $ref: '#/$defs/node' } } };
    expect(await warningsOf({ keys: 'list.next.next.valu', schema })).toContain(
      'KEY_NAMES_NOTHING list.next.next.valu decide list.next.next.value',
    );
  });
});

describe('work of the check', () => {
  beforeEach(() => vi.restoreAllMocks());

  const keys = (count: number) => Array.from({ length: count }, (_, index) => `m${index}.a`).join();
  const task = (id: string, keyList: string, uiActions: string) =>
    `<bpmn:userTask id="${id}"><bpmn:extensionElements>
      <svc:actions><svc:action name="a" manual="true" keys="${keyList}"/></svc:actions>
      <svc:uiActions>${uiActions}</svc:uiActions></bpmn:extensionElements></bpmn:userTask>`;
  const chain = (tasks: readonly string[], uiActions: string, keyList: string) =>
    bpmn(
      `${nodes('startEvent:s endEvent:z')}${tasks.map((id) => task(id, keyList, uiActions)).join('')}
      ${flows(['s', ...tasks, 'z'].flatMap((id, index, all) => (index === 0 ? [] : [`${all[index - 1]}>${id}`])).join(' '))}`,
    );
  const uiActions = (count: number) =>
    Array.from({ length: count }, (_, index) => `<svc:uiAction name="u${index}" action="a"/>`).join('');
  const taskIds = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);

  it('does not grow with UI actions times keys, and yields after each node', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    vi.mocked(parsePath).mockClear();
    const { definitions, problems } = await compileXml(
      chain(taskIds(60), uiActions(100), keys(1_000)),
    ).finally(() => clearInterval(timer));
    expect({ definitions: definitions.length, problems }).toMatchObject({ definitions: 1, problems: [] });
    // Each of 60,000 keys is read by the compiler; 100 UI actions for each would make millions.
    expect(vi.mocked(parsePath).mock.calls.length).toBeLessThan(300_000);
    expect(turns).toBeGreaterThan(5);
  });

  it('suggests the missing comma in a key of two names', async () => {
    const schema = '{"type":"object","properties":{"outcome":{},"device":{}}}';
    const ui = `<svc:uiAction name="u" action="a"><svc:bodySchema>${schema}</svc:bodySchema></svc:uiAction>`;
    const { problems } = await compileXml(chain(['t'], ui, 'outcome device'));
    const messages = problems
      .filter(({ code }) => code === 'KEY_NAMES_NOTHING')
      .map(({ message }) => message);
    expect(messages).toEqual([expect.stringContaining('Is a comma missing in it?')]);
  });

  it('follows schemas that refer to themselves no further than its budget', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `m${index}`);
    const node = { properties: Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/n' }])) };
    const schema = JSON.stringify({ $defs: { n: node }, properties: { root: { $ref: '#/$defs/n' } } });
    const paths = Array.from({ length: 900 }, (_, index) =>
      ['root', ...Array.from({ length: 40 }, (__, depth) => `m${(index + depth * 7) % 300}`)].join('.'),
    );
    const member = vi.spyOn(KnownMembers.prototype, 'member');
    const ui = `<svc:uiAction name="u" action="a"><svc:bodySchema><![CDATA[${schema}]]></svc:bodySchema></svc:uiAction>`;
    const { definitions } = await compileXml(chain(['t'], ui, paths.join()));
    expect(definitions).toHaveLength(1);
    // 36,000 places with 300 names each are more than the budget.
    expect(member.mock.calls.length).toBeLessThan(20_000);
  });
});
