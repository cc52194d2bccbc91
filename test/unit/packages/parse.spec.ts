import { describe, expect, it } from 'vitest';
import { PackageReader } from '../../../src/delivery/packages/reading/package-reader.js';
import { application, node, packageDocument, settings, system, workflow } from './package-fixture.js';

function parse(document: unknown, values: Record<string, string> = {}) {
  settings(values);
  return new PackageReader(document).read();
}

/** Returns `file: element: code` of each problem of an invalid package. */
function problemsOf(document: unknown, values: Record<string, string> = {}): string[] {
  const { package: pkg, problems } = parse(document, values);
  expect(pkg).toBeNull();
  return problems.map(({ file, element, code }) => `${file}: ${element ?? '-'}: ${code}`);
}

/** Returns an object with an own member such as `__proto__`, which an object literal cannot define. */
function withKey(key: string, value: unknown, into: Record<string, unknown> = {}): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify({ ...into, placeholder: value }).replace('"placeholder"', JSON.stringify(key)),
  ) as Record<string, unknown>;
}

function nested(levels: number): unknown {
  return JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
}

/** An array with this string is 262,144 characters of JSON. */
const LONGEST = 'x'.repeat(262_140);

function withBodies(inputBody: unknown, outputBody: unknown = null): unknown {
  const nodes = [
    node('start', 'START', ['x']),
    node('x', 'DATA_MAPPING', ['end'], { inputBody }),
    node('end', 'END', [], { outputBody }),
  ];
  return packageDocument({ workflows: [{ ...workflow(), nodes }] });
}

function withAuthorization(configuration: Record<string, unknown>): unknown {
  const identityProviderUrl = 'https://sso.example.com/token';
  return packageDocument({
    systems: [
      system({
        authorization: { type: 'SERVICE_ACCOUNT', configuration: { identityProviderUrl, ...configuration } },
      }),
    ],
  });
}

describe('PackagesService.parse', () => {
  it('fills in defaults', () => {
    const { package: pkg, problems } = parse({ application: application() });
    expect(problems).toEqual([]);
    expect(pkg).toEqual({
      application: {
        formatVersion: 1,
        appId: 'loans',
        name: 'Loans',
        description: '',
        settings: {
          platforms: 'OMNICHANNEL',
          themeId: null,
          dateDisplayFormat: { format: 'yyyy-MM-dd' },
          numberDisplayFormat: { minDecimals: 0, maxDecimals: 2 },
          currencyDisplayFormat: { format: 'isoCode' },
          defaultLanguageCode: 'en',
        },
        libraries: [],
      },
      systems: [],
      workflows: [],
      processes: [],
    });
  });

  it('derives the file names of parts without one', () => {
    const { package: pkg } = parse(
      packageDocument({
        systems: [system(), system({ resourceName: 'rest', type: 'REST', file: 'systems/other.json' })],
        workflows: [workflow()],
      }),
    );
    expect(pkg?.systems.map(({ file }) => file)).toEqual(['systems/core_tools.json', 'systems/other.json']);
    expect(pkg?.workflows.map(({ file }) => file)).toEqual(['workflows/rate.json']);
  });

  it('accepts a node as the API returns it, including members that the service wrote', () => {
    const shown = node('agent', 'CUSTOM_AGENT', ['end'], {
      svcUuid: '0b6f2c68-6dd1-4a9a-bb5f-4b6b3b7b9a10',
      layoutOptions: { x: 10, y: -2.5 },
      conditions: [],
      inputBody: '{"client": "${client.name}"}',
      outputBody: null,
      payload: null,
      responseKey: 'answer',
      aiOptions: {
        aiType: 'CUSTOM_AGENT',
        aiSubType: null,
        operationPrompt: 'Find ${client.name}.',
        exampleOutputJsonSchema: { type: 'object' },
        mcpServers: [{ resourceDefinitionId: 'd1', appId: 'loans' }],
      },
      workflowResourceId: 'w1',
      subWorkflowResourceDefinitionId: null,
      subWorkflowNodeType: null,
      createdDate: '2026-01-31T10:20:30.123Z',
      modifiedDate: '2026-01-31T10:20:30.123Z',
      createdBy: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
      modifiedBy: null,
    });
    const { package: pkg, problems } = parse(
      packageDocument({ workflows: [workflow([node('start', 'START', ['agent']), shown])] }),
    );
    expect(problems).toEqual([]);
    expect(pkg?.workflows[0]?.nodes[1]).toEqual(shown);
  });

  it('accepts bodies as JSON, and converts them to text', () => {
    const inputBody = { amount: '${loan.amount}', tags: ['a', '${b["c d"]}'] };
    const { package: pkg, problems } = parse(
      packageDocument({
        workflows: [
          workflow([
            node('start', 'START', ['x']),
            node('x', 'DATA_MAPPING', ['y'], { inputBody }),
            node('y', 'DATA_MAPPING', ['end'], { inputBody: ['${a}'] }),
          ]),
        ],
      }),
    );
    expect(problems).toEqual([]);
    expect(pkg?.workflows[0]?.nodes.map((one) => one.inputBody)).toEqual([
      null,
      JSON.stringify(inputBody),
      '["${a}"]',
      null,
    ]);
  });

  it('accepts a body of the maximum length, as text or as JSON', () => {
    const { package: pkg, problems } = parse(withBodies([LONGEST], JSON.stringify([LONGEST])));
    expect(problems).toEqual([]);
    expect(pkg?.workflows[0]?.nodes[1]?.inputBody).toHaveLength(262_144);
  });

  it.each([
    ['text', JSON.stringify([`${LONGEST}x`])],
    ['an array', [`${LONGEST}x`]],
    ['an object', { longer: LONGEST }],
  ])('rejects a body that is too long as text, sent as %s', (_what, body) => {
    expect(parse(withBodies(body, body)).problems).toMatchObject(
      ['/nodes/1/inputBody', '/nodes/2/outputBody'].map((element) => ({
        code: 'VALUE_INVALID',
        element,
        message: expect.stringMatching(/"(in|out)putBody" .*262144 characters/),
      })),
    );
  });

  it('explains the expected type of a body', () => {
    const { problems } = parse(
      packageDocument({
        workflows: [
          workflow([node('start', 'START', ['x']), node('x', 'DATA_MAPPING', ['end'], { inputBody: 7 })]),
        ],
      }),
    );
    expect(problems).toMatchObject([
      {
        code: 'VALUE_INVALID',
        element: '/nodes/1/inputBody',
        message: '"inputBody" must be a JSON object, an array, or JSON text.',
      },
    ]);
  });

  it('accepts a node of an unknown type', () => {
    const { package: pkg } = parse(
      packageDocument({
        workflows: [workflow([node('start', 'START', ['x']), node('x', 'OCR_SCAN', ['end'])])],
      }),
    );
    expect(pkg?.workflows[0]?.nodes[1]).toMatchObject({ type: 'OCR_SCAN' });
  });

  it.each([
    ['a text', 'text'],
    ['null', null],
    ['an array', []],
    ['nothing', undefined],
  ])('rejects %s', (_what, document) => {
    expect(problemsOf(document)).toEqual(['application.json: -: VALUE_INVALID']);
  });

  it.each([
    ['no application', {}, ['application.json: -: MEMBER_MISSING']],
    [
      'an unknown member at the top level',
      { application: application(), extra: 1 },
      ['application.json: /extra: MEMBER_UNKNOWN'],
    ],
    [
      'systems that are not an array',
      { application: application(), systems: {} },
      ['application.json: -: VALUE_INVALID'],
    ],
    [
      'an invalid name',
      packageDocument({ systems: [system({ resourceName: 'a b' })] }),
      ['systems/0.json: /resourceName: VALUE_INVALID'],
    ],
    ...['.', '..'].map((name): [string, unknown, string[]] => [
      `a workflow name that cannot be used in a path (${name})`,
      packageDocument({ workflows: [{ ...workflow([]), name }] }),
      [`workflows/${name}.json: /name: VALUE_INVALID`],
    ]),
    [
      'an id that cannot be used in a path',
      { application: application({ appId: '..' }) },
      ['application.json: /appId: VALUE_INVALID'],
    ],
    [
      'an unknown system type',
      packageDocument({ systems: [system({ type: 'SOAP' })] }),
      ['systems/core_tools.json: /type: VALUE_INVALID'],
    ],
    [
      'an MCP system without an address',
      packageDocument({ systems: [system({ baseUrl: undefined })] }),
      ['systems/core_tools.json: /baseUrl: MEMBER_MISSING'],
    ],
    [
      'tools',
      packageDocument({ systems: [system({ tools: [] })] }),
      ['systems/core_tools.json: /tools: MEMBER_UNKNOWN'],
    ],
    [
      'a workflow without nodes',
      packageDocument({ workflows: [{ name: 'w' }] }),
      ['workflows/w.json: /nodes: MEMBER_MISSING'],
    ],
    [
      'a node without an id',
      packageDocument({ workflows: [workflow([{ type: 'START', name: 'start' }])] }),
      ['workflows/rate.json: /nodes/0/id: MEMBER_MISSING'],
    ],
    [
      'a process outside its folder',
      packageDocument({ processes: [{ file: '../../x.bpmn', bpmn: '<a/>' }] }),
      ['processes/0.bpmn: /file: VALUE_INVALID'],
    ],
  ])('rejects %s', (_what, document, expected) => {
    expect(problemsOf(document)).toEqual(expected);
  });

  it('reports all problems at once, each with its file', () => {
    const document = packageDocument({
      application: application({ name: 7, languages: [] }),
      systems: [system({ baseUrl: 1 }), system({ resourceName: 'b', name: '' })],
      workflows: [workflow([node('start', 'start', ['end'])]), { nodes: [] }],
      processes: [{ file: 'processes/a.bpmn' }],
    });
    expect(problemsOf(document)).toEqual([
      'application.json: /name: VALUE_INVALID',
      'application.json: /languages: MEMBER_UNKNOWN',
      'systems/core_tools.json: /baseUrl: VALUE_INVALID',
      'systems/b.json: /name: VALUE_INVALID',
      'workflows/rate.json: /nodes/0/type: VALUE_INVALID',
      'workflows/1.json: /name: MEMBER_MISSING',
      'processes/a.bpmn: /bpmn: MEMBER_MISSING',
    ]);
  });

  it.each([
    ['application', { application: { formatVersion: 1, appId: 'loans', nmae: 'Loans' } }, '/nmae', 'name'],
    ['the document', packageDocument({ workfows: [] }), '/workfows', 'workflows'],
    [
      'the type of a system',
      packageDocument({ systems: [system({ type: undefined, tpye: 'MCP' })] }),
      '/tpye',
      'type',
    ],
    [
      'the credentials of a system',
      withAuthorization({ cilentId: 'c' }),
      '/authorization/configuration/cilentId',
      'clientId',
    ],
    ['a workflow', packageDocument({ workflows: [{ name: 'rate', nodse: [] }] }), '/nodse', 'nodes'],
    [
      'a node',
      packageDocument({ workflows: [workflow([node('x', 'START', ['end'], { id: undefined, Id: 'x' })])] }),
      '/nodes/0/Id',
      'id',
    ],
    [
      'an optional member of a node',
      packageDocument({ workflows: [workflow([node('x', 'START', ['end'], { responsKey: 'r' })])] }),
      '/nodes/0/responsKey',
      'responseKey',
    ],
  ])('reports a misspelled member of %s once, with a suggestion', (_what, document, element, suggestion) => {
    const name = element.split('/').at(-1);
    expect(parse(JSON.parse(JSON.stringify(document))).problems).toMatchObject([
      {
        code: 'MEMBER_UNKNOWN',
        element,
        message: `"${name}" is not a known member. Did you mean "${suggestion}"?`,
      },
    ]);
  });

  it('reports an invalid member in addition to a misspelled one', () => {
    const document = { application: { formatVersion: 2, formatVersoin: 1, appId: 'loans', name: 'Loans' } };
    expect(problemsOf(document)).toEqual([
      'application.json: /formatVersion: VALUE_INVALID',
      'application.json: /formatVersoin: MEMBER_UNKNOWN',
    ]);
  });

  it('gives an example of a node type', () => {
    const { problems } = parse(
      packageDocument({ workflows: [workflow([node('x', 'rest_endpoint', ['end'])])] }),
    );
    expect(problems.map(({ message }) => message)).toEqual([
      '"type" must be a node type such as "REST_ENDPOINT".',
    ]);
  });

  it.each([
    [19, 'MEMBER_UNKNOWN'],
    [20, 'VALUE_INVALID'],
  ])('finds a misspelled discriminator after %i other members: %s', (count, code) => {
    const others = Object.fromEntries(Array.from({ length: count }, (_, index) => [`other${index}`, 1]));
    const document = packageDocument({
      systems: [system({ authorization: { ...others, tpye: 'NO_AUTH' } })],
    });
    expect(parse(document).problems).toMatchObject([{ code }]);
  });

  it('reports both a missing member and an unknown one with a different name', () => {
    const document = packageDocument({ systems: [system({ baseUrl: undefined, somewhere: 'x' })] });
    expect(problemsOf(document)).toEqual([
      'systems/core_tools.json: /baseUrl: MEMBER_MISSING',
      'systems/core_tools.json: /somewhere: MEMBER_UNKNOWN',
    ]);
  });

  it('describes problems in plain language', () => {
    const { problems } = parse(packageDocument({ systems: [system({ baseUrl: 1, name: '' })] }));
    expect(problems.map(({ message }) => message)).toEqual([
      '"name" must have at least 1 characters.',
      '"baseUrl" must be a string.',
    ]);
  });

  it.each(['clientSecret', 'client_secret', 'SECRET'])(
    'rejects a secret named %s without exposing it',
    (key) => {
      const configuration = {
        clientId: 'c',
        identityProviderUrl: 'https://sso.example.com/token',
        [key]: 'hunter2',
      };
      const { package: pkg, problems } = parse(
        packageDocument({ systems: [system({ authorization: { type: 'SERVICE_ACCOUNT', configuration } })] }),
      );
      expect(pkg).toBeNull();
      expect(problems).toMatchObject([
        { code: 'SECRET_IN_PACKAGE', file: 'systems/core_tools.json', element: '/authorization' },
      ]);
      expect(JSON.stringify(problems)).not.toContain('hunter2');
    },
  );
});

describe('a hostile package', () => {
  it.each(['__proto__', 'constructor', 'prototype'])('must not have a member %s anywhere', (key) => {
    expect(problemsOf(packageDocument({ systems: [withKey(key, { polluted: true }, system())] }))).toEqual([
      `systems/core_tools.json: /${key}: NAME_FORBIDDEN`,
    ]);
    const schema = { type: 'object', properties: withKey(key, {}) };
    expect(problemsOf(packageDocument({ workflows: [workflow([], { inputSchema: schema })] }))).toEqual([
      `workflows/rate.json: /inputSchema/properties/${key}: NAME_FORBIDDEN`,
    ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('must not exceed the nesting depth', () => {
    const payload = { deep: nested(5_000) };
    const problems = problemsOf(
      packageDocument({ workflows: [workflow([node('x', 'START', ['end'], { payload })])] }),
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^workflows\/rate\.json: \/nodes\/0\/payload\/deep(\/0)+: TOO_DEEP$/);
  });

  it('must not have too many values', () => {
    const rows = (count: number) =>
      Array.from({ length: count }, () => Array.from({ length: 1_000 }, () => []));
    const limits = { 'packageLimits.bytes': '400000' };
    expect(problemsOf({ application: application(), systems: rows(30) }, limits)).toEqual([
      'application.json: -: TOO_MANY',
    ]);
    expect(problemsOf({ application: application(), systems: rows(3) }, limits)).not.toContain(
      'application.json: -: TOO_MANY',
    );
  });

  it('must not have arrays that are too long', () => {
    const conditions = Array.from({ length: 10_001 }, () => ({}));
    expect(
      problemsOf(packageDocument({ workflows: [workflow([node('x', 'CONDITION', [], { conditions })])] })),
    ).toEqual(['workflows/rate.json: /nodes/0/conditions: TOO_MANY']);
  });

  it.each([
    ['systems', 'packageLimits.systems'],
    ['workflows', 'packageLimits.workflows'],
    ['processes', 'packageLimits.processes'],
  ])('must not have more %s than %s', (list, setting) => {
    expect(problemsOf(packageDocument({ [list]: [{}, {}] }), { [setting]: '1' })).toEqual([
      'application.json: -: TOO_MANY',
    ]);
  });

  it('must not have more nodes than packageLimits.workflowNodes', () => {
    const nodes = [node('start', 'START', ['end']), node('x', 'DATA_MAPPING')];
    expect(
      problemsOf(packageDocument({ workflows: [workflow(nodes)] }), { 'packageLimits.workflowNodes': '2' }),
    ).toEqual(['workflows/rate.json: /nodes: TOO_MANY']);
  });

  it('must not be larger than packageLimits.bytes', () => {
    const processes = [{ file: 'processes/a.bpmn', bpmn: 'ä'.repeat(600) }];
    expect(problemsOf(packageDocument({ processes }), { 'packageLimits.bytes': '1024' })).toEqual([
      'application.json: -: PACKAGE_TOO_LARGE',
    ]);
  });

  it('must not have texts that are too long', () => {
    const long = 'x'.repeat(1_000_000);
    expect(problemsOf(packageDocument({ systems: [system({ name: long, description: long })] }))).toEqual([
      'systems/core_tools.json: /name: VALUE_INVALID',
      'systems/core_tools.json: /description: VALUE_INVALID',
    ]);
  });

  it.each([
    ['a NUL', 'a\u0000b'],
    ['an unpaired surrogate', 'a\ud800b'],
  ])('must not contain %s', (_what, text) => {
    expect(problemsOf(packageDocument({ systems: [system({ name: text })] }))).toEqual([
      'systems/core_tools.json: /name: TEXT_INVALID',
    ]);
    expect(problemsOf(packageDocument({ systems: [withKey(text, 1, system())] }))[0]).toContain(
      'TEXT_INVALID',
    );
  });

  it('gets a limited number of problems, and a note that there are more', () => {
    const document = packageDocument({ systems: Array.from({ length: 100 }, () => ({})) });
    const { problems } = parse(document, { 'packageLimits.problems': '5' });
    expect(problems).toHaveLength(6);
    expect(problems.at(-1)).toMatchObject({ code: 'MORE_PROBLEMS' });
  });

  it('gets truncated texts in its problems', () => {
    const { problems } = parse(packageDocument({ systems: [system({ ['k'.repeat(1_000)]: 1 })] }));
    expect(problems[0]?.message.length).toBeLessThan(200);
    expect(problems[0]?.element?.length).toBeLessThan(200);
  });
});
