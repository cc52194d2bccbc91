import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json.js';
import { SchemaSyntaxError } from '../../src/json-schema/json-schema.types.js';
import { compileSchema } from '../../src/json-schema/json-schema.js';
import { bpmn, compileXml, errorsOf, flows, graphOf, nodeOf, nodes } from './compile.js';

const withNode = (content: string, kind = 'userTask', attributes = '') =>
  bpmn(
    `${nodes('startEvent:s endEvent:z')}<bpmn:${kind} id="a" ${attributes}><bpmn:extensionElements>${content}</bpmn:extensionElements></bpmn:${kind}>${flows('s>a a>z')}`,
  );
const actions = (content: string) => `<svc:actions>${content}</svc:actions>`;
const OK = '<svc:action name="ok" manual="true" keys="*"/>';
const UI = '<svc:uiActions><svc:uiAction name="u" action="ok"/></svc:uiActions>';
const warningsOf = async (xml: string) =>
  (await compileXml(xml)).problems.filter(({ severity }) => severity === 'warning').map(({ code }) => code);

const withSchema = (schema: string) =>
  bpmn(
    `<bpmn:extensionElements><svc:inputSchema><![CDATA[${schema}]]></svc:inputSchema></bpmn:extensionElements>${nodes('startEvent:s endEvent:z')}${flows('s>z')}`,
  );

describe('actions', () => {
  it('compiles every attribute of a manual action', async () => {
    const graph = await graphOf(
      withNode(
        actions(
          '<svc:action name="first" order="2" manual="true" optional="true" repeatable="true" keys=\'client.name, fields["a, b"] ,list[0]\' allowBack="true" removeKeys="x" restoreKeys="y.z" autoRunChildren="true"/><svc:action name="second" order="1" manual="true" keys="*" uuid="0198c1f0-7b1a-7c3e-8a55-0123456789ab"/>',
        ),
      ),
    );
    expect(nodeOf(graph, 'a').actions).toEqual([
      {
        svcUuid: '0198c1f0-7b1a-7c3e-8a55-0123456789ab',
        name: 'second',
        order: 1,
        manual: true,
        optional: false,
        repeatable: false,
        keys: ['*'],
        parent: null,
        autoRunChildren: false,
        delay: null,
        back: null,
        operation: { kind: 'SAVE_DATA', data: null },
      },
      {
        svcUuid: expect.stringMatching(
          /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        ),
        name: 'first',
        order: 2,
        manual: true,
        optional: true,
        repeatable: true,
        keys: ['client.name', 'fields["a, b"]', 'list[0]'],
        parent: null,
        autoRunChildren: true,
        delay: null,
        back: { removeKeys: ['x'], restoreKeys: ['y.z'] },
        operation: { kind: 'SAVE_DATA', data: null },
      },
    ]);
  });

  it('compiles every kind of operation', async () => {
    const graph = await graphOf(
      withNode(
        actions(
          `<svc:action name="a1" delay="PT5M"><svc:data>{ "sum": "\${amount}", "list": [1, {"x": null}] }</svc:data></svc:action>
           <svc:action name="a2" kind="startWorkflow" workflow="score" appId="lib" resultKey="score.value" delay="\${pause}"><svc:input><![CDATA[{ "id": "\${client.id < 3}" }]]></svc:input></svc:action>
           <svc:action name="a3" kind="startSubprocess" process="archive" startCondition="fast" copy="except" copyKeys="secret"/>
           <svc:action name="a4" kind="appendToParent"><svc:path from="total" to="order.total"/><svc:path from="b" to="c"/></svc:action>
           <svc:action name="a5" kind="sendMessage" message="done" correlation="order.id"><svc:payload>{ "a": 1 }</svc:payload></svc:action>`,
        ),
        'serviceTask',
      ),
    );
    const found = nodeOf(graph, 'a').actions;
    expect(found.map(({ operation }) => operation)).toEqual([
      { kind: 'SAVE_DATA', data: { sum: '${amount}', list: [1, { x: null }] } },
      {
        kind: 'START_WORKFLOW',
        workflow: 'score',
        appId: 'lib',
        input: { id: '${client.id < 3}' },
        resultKey: 'score.value',
      },
      {
        kind: 'START_SUBPROCESS',
        process: 'archive',
        appId: null,
        startCondition: 'fast',
        copy: { mode: 'EXCEPT', keys: ['secret'] },
      },
      { kind: 'APPEND_TO_PARENT', paths: { total: 'order.total', b: 'c' } },
      { kind: 'SEND_MESSAGE', message: 'done', correlation: 'order.id', payload: { a: 1 } },
    ]);
    expect(found.map(({ delay }) => delay)).toEqual(['PT5M', '${pause}', null, null, null]);
    expect(found.map(({ keys }) => keys)).toEqual([['*'], ['*'], ['*'], ['*'], ['*']]);
  });

  it('compiles UI actions', async () => {
    const graph = await graphOf(
      withNode(
        `${actions(OK)}<svc:uiActions><svc:uiAction name="approve" action="ok" excludeKeys="internal, debug.x"><svc:body>{ "decision": "yes" }</svc:body><svc:bodySchema>{ "type": "object", "required": ["note"] }</svc:bodySchema></svc:uiAction><svc:uiAction name="plain" action="ok"/></svc:uiActions>`,
      ),
    );
    expect(nodeOf(graph, 'a').uiActions).toMatchObject([
      {
        name: 'approve',
        action: 'ok',
        body: { decision: 'yes' },
        bodySchema: { type: 'object', required: ['note'] },
        excludeKeys: ['internal', 'debug.x'],
      },
      { name: 'plain', action: 'ok', body: null, bodySchema: null, excludeKeys: [] },
    ]);
    const uuids = nodeOf(graph, 'a').uiActions.map(({ svcUuid }) => svcUuid);
    expect(new Set([...uuids, ...nodeOf(graph, 'a').actions.map(({ svcUuid }) => svcUuid)]).size).toBe(3);
  });

  it.each([
    ['no name', '<svc:action manual="true"/>', 'MISSING_VALUE'],
    ['an unknown kind', '<svc:action name="x" kind="runScript"/>', 'INVALID_VALUE'],
    ['an unknown attribute', '<svc:action name="x" manual="true" key="a"/>', 'UNKNOWN_ATTRIBUTE'],
    ['a flag that is none', '<svc:action name="x" manual="true" repeatable="1"/>', 'INVALID_VALUE'],
    ['an order that is no number', '<svc:action name="x" manual="true" order="first"/>', 'INVALID_VALUE'],
    [
      'an automatic one that is optional',
      '<svc:action name="x" optional="true"><svc:data>{}</svc:data></svc:action>',
      'INVALID_ACTION',
    ],
    ['an automatic one that saves nothing', '<svc:action name="x"/>', 'MISSING_VALUE'],
    [
      'a manual one with data',
      '<svc:action name="x" manual="true"><svc:data>{}</svc:data></svc:action>',
      'INVALID_ACTION',
    ],
    ['a manual one with a delay', '<svc:action name="x" manual="true" delay="PT1S"/>', 'INVALID_ACTION'],
    [
      'an invalid delay',
      '<svc:action name="x" delay="1 s"><svc:data>{}</svc:data></svc:action>',
      'INVALID_DURATION',
    ],
    [
      'an automatic return point',
      '<svc:action name="x" allowBack="true"><svc:data>{}</svc:data></svc:action>',
      'INVALID_ACTION',
    ],
    [
      'another way to go back',
      '<svc:action name="x" manual="true" allowBack="explicitly"/>',
      'INVALID_VALUE',
    ],
    [
      'keys of going back without going back',
      '<svc:action name="x" manual="true" removeKeys="a"/>',
      'INVALID_ACTION',
    ],
    [
      'a key that reaches a prototype',
      '<svc:action name="x" manual="true" keys="a.constructor"/>',
      'INVALID_PATH',
    ],
    ['a key that is no path', '<svc:action name="x" manual="true" keys="a..b"/>', 'INVALID_PATH'],
    [
      'data that is no JSON',
      '<svc:action name="x"><svc:data>{ a: 1 }</svc:data></svc:action>',
      'INVALID_JSON',
    ],
    [
      'data with an integer that would be rounded',
      '<svc:action name="x"><svc:data>{ "id": 3544790567247868102 }</svc:data></svc:action>',
      'INVALID_JSON',
    ],
    ['data that is no object', '<svc:action name="x"><svc:data>[1]</svc:data></svc:action>', 'INVALID_JSON'],
    [
      'data with a prototype key',
      '<svc:action name="x"><svc:data>{ "a": { "__proto__": 1 } }</svc:data></svc:action>',
      'INVALID_JSON',
    ],
    [
      'data with a reference that does not parse',
      '<svc:action name="x"><svc:data>{ "a": "${b" }</svc:data></svc:action>',
      'INVALID_JSON',
    ],
    [
      'repeated data',
      '<svc:action name="x"><svc:data>{}</svc:data><svc:data>{}</svc:data></svc:action>',
      'REPEATED_PART',
    ],
    ['a workflow that is not named', '<svc:action name="x" kind="startWorkflow"/>', 'MISSING_VALUE'],
    [
      'a part of another kind',
      '<svc:action name="x" kind="startWorkflow" workflow="w" process="p"/>',
      'INVALID_ACTION',
    ],
    [
      'paths of another kind',
      '<svc:action name="x" manual="true"><svc:path from="a" to="b"/></svc:action>',
      'INVALID_ACTION',
    ],
    ['no paths', '<svc:action name="x" kind="appendToParent"/>', 'MISSING_VALUE'],
    [
      'a path without target',
      '<svc:action name="x" kind="appendToParent"><svc:path from="a"/></svc:action>',
      'INVALID_VALUE',
    ],
    [
      'a correlation that is not CEL',
      '<svc:action name="x" kind="sendMessage" message="m" correlation="a ="/>',
      'INVALID_EXPRESSION',
    ],
    ['an unknown parent', '<svc:action name="x" manual="true" parent="y"/>', 'UNKNOWN_ACTION'],
    ['itself as parent', '<svc:action name="x" manual="true" parent="x"/>', 'ACTION_CYCLE'],
    [
      'parents in a circle',
      '<svc:action name="x" manual="true" parent="y"/><svc:action name="y" manual="true" parent="x"/>',
      'ACTION_CYCLE',
    ],
    ['two of a name', OK + OK, 'DUPLICATE_NAME'],
    ['a uuid that is none', '<svc:action name="x" manual="true" uuid="1"/>', 'INVALID_UUID'],
    [
      'the same uuid twice',
      '<svc:action name="x" manual="true" uuid="0198c1f0-7b1a-7c3e-8a55-0123456789ab"/><svc:action name="y" manual="true" uuid="0198c1f0-7b1a-7c3e-8a55-0123456789AB"/>',
      'DUPLICATE_UUID',
    ],
  ])('refuses %s', async (_, content, code) => {
    const errors = await errorsOf(withNode(actions(content)));
    expect(new Set(errors)).toEqual(new Set([`${code} a`]));
  });

  it('refuses a manual action on anything but a user task', async () => {
    expect(await errorsOf(withNode(actions(OK), 'serviceTask'))).toEqual(['INVALID_ACTION a']);
  });

  it.each(['manualTask', 'receiveTask', 'callActivity', 'intermediateThrowEvent', 'exclusiveGateway'])(
    'refuses actions on a %s',
    async (kind) => {
      expect(
        await errorsOf(withNode(actions('<svc:action name="x"><svc:data>{}</svc:data></svc:action>'), kind)),
      ).toContain('MISPLACED_EXTENSION a');
    },
  );

  it.each([
    ['lists of actions twice', actions(OK) + actions(OK.replace('ok', 'no'))],
    ['an action outside of a list', OK],
    ['an input schema on a node', `${actions(OK)}<svc:inputSchema>{}</svc:inputSchema>`],
  ])('refuses %s', async (_, content) => {
    expect(await errorsOf(withNode(content))).toContain('MISPLACED_EXTENSION a');
  });

  it('refuses unknown svc elements', async () => {
    expect(await errorsOf(withNode(`${actions(OK)}<svc:script>1</svc:script>`))).toEqual([
      'MISPLACED_EXTENSION -',
    ]);
  });

  it('compiles a return point that requires an explicit request', async () => {
    const xml = withNode(
      actions('<svc:action name="x" manual="true" keys="*" allowBack="explicit" removeKeys="y"/>'),
    );
    expect(nodeOf(await graphOf(xml), 'a').actions[0]?.back).toEqual({
      removeKeys: ['y'],
      restoreKeys: [],
      explicit: true,
    });
  });

  it('refuses return points on a node that cannot be gone back to', async () => {
    const xml = withNode(
      actions('<svc:action name="x" manual="true" keys="*" allowBack="true"/>'),
      'userTask',
      'svc:canGoBack="false"',
    );
    expect(await errorsOf(xml)).toEqual(['BACK_NOT_POSSIBLE a']);
  });

  it.each([
    ['an unknown action', '<svc:uiAction name="u" action="other"/>', 'UNKNOWN_ACTION a'],
    ['an automatic action', '<svc:uiAction name="u" action="auto"/>', 'UNKNOWN_ACTION a'],
    ['no action', '<svc:uiAction name="u"/>', 'MISSING_VALUE a'],
    [
      'two of a name',
      '<svc:uiAction name="u" action="ok"/><svc:uiAction name="u" action="ok"/>',
      'DUPLICATE_NAME a',
    ],
    [
      'a body that is no object',
      '<svc:uiAction name="u" action="ok"><svc:body>1</svc:body></svc:uiAction>',
      'INVALID_JSON a',
    ],
    [
      'an invalid schema',
      '<svc:uiAction name="u" action="ok"><svc:bodySchema>{"type":"thing"}</svc:bodySchema></svc:uiAction>',
      'INVALID_SCHEMA a',
    ],
  ])('refuses UI actions with %s', async (_, uiAction, expected) => {
    const auto = '<svc:action name="auto"><svc:data>{}</svc:data></svc:action>';
    expect(
      await errorsOf(withNode(`${actions(OK + auto)}<svc:uiActions>${uiAction}</svc:uiActions>`)),
    ).toContain(expected);
  });

  it('refuses UI actions on anything but a user task', async () => {
    const ui = '<svc:uiActions><svc:uiAction name="u" action="x"/></svc:uiActions>';
    expect(await errorsOf(withNode(ui, 'task'))).toContain('MISPLACED_EXTENSION a');
  });

  it.each([
    [
      'a user task with optional actions only',
      withNode(actions('<svc:action name="ok" manual="true" optional="true" keys="*"/>') + UI),
      ['USER_TASK_DOES_NOT_WAIT'],
    ],
    [
      'a user task with automatic actions only',
      withNode(actions('<svc:action name="x"><svc:data>{}</svc:data></svc:action>')),
      ['USER_TASK_DOES_NOT_WAIT'],
    ],
    [
      'an action that stores nothing',
      withNode(actions('<svc:action name="ok" manual="true"/>') + UI),
      ['NOTHING_STORED'],
    ],
    [
      'an action that never runs',
      withNode(actions(`${OK}<svc:action name="x" parent="ok"><svc:data>{}</svc:data></svc:action>`) + UI),
      ['ACTION_NEVER_RUNS'],
    ],
    ['an action that nobody can execute', withNode(actions(OK)), ['ACTION_WITHOUT_UI_ACTION']],
    ['nothing at a user task that waits', withNode(actions(OK) + UI), []],
    ['nothing at a user task without actions, which waits too', withNode('<svc:actions/>'), []],
  ])('warns of %s', async (_, xml, expected) => {
    expect(await warningsOf(xml)).toEqual(expected);
  });
});

describe('user tasks without actions', () => {
  const plain = bpmn(nodes('startEvent:s userTask:a endEvent:z') + flows('s>a a>z'));

  it('get one mandatory manual action with one UI action, both called complete and without data', async () => {
    const { actions: own, uiActions } = nodeOf(await graphOf(plain), 'a');
    expect(own).toMatchObject([
      {
        name: 'complete',
        manual: true,
        optional: false,
        repeatable: false,
        keys: [],
        delay: null,
        back: null,
      },
    ]);
    expect(uiActions).toMatchObject([{ name: 'complete', action: 'complete', body: null, excludeKeys: [] }]);
    expect(compileSchema(uiActions[0]?.bodySchema ?? {}).check({})).toEqual([]);
    expect(compileSchema(uiActions[0]?.bodySchema ?? {}).check({ note: 'x' })).not.toEqual([]);
  });

  it.each(['', '<svc:actions/>', '<svc:uiActions/>', '<svc:actions/><svc:uiActions/>'])(
    'get the same ones, with the same uuids, for "%s"',
    async (content) => {
      const [one, other] = await Promise.all([graphOf(plain), graphOf(withNode(content))]);
      const { actions: own, uiActions } = nodeOf(other, 'a');
      expect({ own, uiActions }).toEqual({
        own: nodeOf(one, 'a').actions,
        uiActions: nodeOf(one, 'a').uiActions,
      });
    },
  );

  it('keep their uuids when the author writes the same actions out', async () => {
    const written = withNode(
      `${actions('<svc:action name="complete" manual="true"/>')}<svc:uiActions><svc:uiAction name="complete" action="complete"/></svc:uiActions>`,
    );
    const [one, other] = await Promise.all([graphOf(plain), graphOf(written)]);
    for (const list of ['actions', 'uiActions'] as const) {
      const [before, after] = [one, other].map((graph) => nodeOf(graph, 'a')[list].map((at) => at.svcUuid));
      expect(before).toEqual(after);
    }
  });

  it('get none in addition to their own UI actions', async () => {
    const ui = '<svc:uiActions><svc:uiAction name="u" action="complete"/></svc:uiActions>';
    expect(await errorsOf(withNode(ui))).toEqual(['UNKNOWN_ACTION a']);
  });
});

function throws(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    return error instanceof SchemaSyntaxError;
  }
}

/** A value of the right kind for each keyword of draft 2020-12, and for some that it does not have. */
const KEYWORD_VALUES: Record<string, unknown> = {
  type: 'object',
  enum: [1],
  const: 1,
  multipleOf: 1,
  maximum: 1,
  exclusiveMaximum: 1,
  minimum: 1,
  exclusiveMinimum: 1,
  maxLength: 1,
  minLength: 1,
  pattern: 'a',
  maxItems: 1,
  minItems: 1,
  uniqueItems: true,
  maxContains: 1,
  minContains: 1,
  maxProperties: 1,
  minProperties: 1,
  required: ['a'],
  dependentRequired: { a: ['b'] },
  allOf: [{}],
  anyOf: [{}],
  oneOf: [{}],
  not: {},
  if: {},
  else: {},
  dependentSchemas: { a: {} },
  prefixItems: [{}],
  items: {},
  contains: {},
  properties: { a: {} },
  patternProperties: { a: {} },
  additionalProperties: {},
  propertyNames: {},
  unevaluatedItems: {},
  unevaluatedProperties: {},
  format: 'date',
  contentEncoding: 'base64',
  contentMediaType: 'a/b',
  contentSchema: {},
  title: 'a',
  description: 'a',
  default: 1,
  deprecated: true,
  readOnly: true,
  writeOnly: true,
  examples: [1],
  $id: 'a',
  $anchor: 'a',
  $ref: '#',
  $dynamicRef: '#',
  $dynamicAnchor: 'a',
  $vocabulary: {},
  $comment: 'a',
  $defs: { a: {} },
  definitions: { a: {} },
  dependencies: {},
  nullable: true,
  'x-own': 1,
};

describe('JSON Schemas', () => {
  it.each([...Object.entries(KEYWORD_VALUES), ['then', {}]])(
    'takes %s where it can be checked with, and only there',
    async (name, value) => {
      const schema = { properties: { a: { [name]: value } } } as JsonObject;
      const compiles = () => compileSchema(schema).check({ a: { a: 1 } });
      const errors = await errorsOf(withSchema(JSON.stringify(schema)));
      expect(errors).toEqual(throws(compiles) ? ['INVALID_SCHEMA P'] : []);
    },
  );

  it('keeps a schema as it is', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { name: { type: 'string', pattern: '^[a-z]+$', description: 'not a ${reference' } },
      type: 'object',
      properties: {
        name: { $ref: '#/$defs/name' },
        ref: { const: { $ref: 'anything' } },
        $ref: { type: 'string' },
      },
      required: ['name'],
    };
    expect((await graphOf(withSchema(JSON.stringify(schema)))).inputSchema).toEqual(schema);
  });

  it.each([
    ['no JSON', '{', 'INVALID_JSON P'],
    ['no object', 'true', 'INVALID_JSON P'],
    ['an unknown type', '{"type":"integers"}', 'INVALID_SCHEMA P'],
    ['another draft', '{"$schema":"http://json-schema.org/draft-04/schema#"}', 'INVALID_SCHEMA P'],
    ['a reference outside', '{"$ref":"https://example.com/schema"}', 'INVALID_SCHEMA P'],
    ['a reference to nothing', '{"properties":{"a":{"$ref":"#/$defs/a"}}}', 'INVALID_SCHEMA P'],
    ['a look-ahead', '{"properties":{"a":{"pattern":"^(?=a)"}}}', 'INVALID_SCHEMA P'],
    ['a back-reference', '{"patternProperties":{"(a)\\\\1":{}}}', 'INVALID_SCHEMA P'],
    ['a prototype key', '{"properties":{"__proto__":{}}}', 'INVALID_JSON P'],
    ['too many levels', `${'{"not":'.repeat(40)}{}${'}'.repeat(40)}`, 'INVALID_SCHEMA P'],
    ['a keyword that no check knows', '{"unevaluatedProperties":false}', 'INVALID_SCHEMA P'],
    ['an anchor', '{"$defs":{"a":{"$anchor":"a"}}}', 'INVALID_SCHEMA P'],
    ['a dynamic reference', '{"properties":{"a":{"$dynamicRef":"#"}}}', 'INVALID_SCHEMA P'],
    ['a number of elements that is none', '{"contains":{},"minContains":"1"}', 'INVALID_SCHEMA P'],
    ['too many bytes', `{"description":"${'x'.repeat(70_000)}"}`, 'INVALID_SCHEMA P'],
  ])('refuses %s', async (_, schema, expected) => {
    expect(await errorsOf(withSchema(schema))).toContain(expected);
  });
});
