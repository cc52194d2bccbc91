import { describe, expect, it } from 'vitest';
import type { CheckContext, LibraryBuild } from '../../../src/delivery/packages/model/package.types.js';
import { SystemType } from '../../../src/systems/model/system.types.js';
import { application, node, packageDocument, system, withoutProcesses, workflow } from './package-fixture.js';

const LIBRARY: LibraryBuild = {
  appId: 'scoring',
  buildId: 'b1',
  processes: [],
  workflows: [{ name: 'score', resourceDefinitionId: 'wd-score' }],
  systems: [
    { resourceName: 'bureau', resourceDefinitionId: 'sd-bureau', type: SystemType.Mcp },
    { resourceName: 'ledger', resourceDefinitionId: 'sd-ledger', type: SystemType.Rest },
  ],
};
const USES_LIBRARY = application({ libraries: [{ appId: 'scoring', buildId: 'b1' }] });

const LIMITS = {
  'packageLimits.libraries': '2',
  'packageLimits.libraryUsers': '2',
  'packageLimits.schemaBytes': '2000',
};

async function check(
  document: Record<string, unknown>,
  context: Partial<CheckContext> = {},
  limits: Record<string, string> = {},
) {
  const service = withoutProcesses({ ...LIMITS, ...limits });
  const { package: pkg, problems } = service.parse(document);
  expect(problems).toEqual([]);
  return service.check(pkg!, { appId: 'loans', libraries: [], ...context });
}

/** Warning about nodes that cannot run. It has its own test. */
const NOT_RUN = 'NODE_TYPE_NOT_RUN';

/** Returns `file: element: code` of each problem except NOT_RUN. Checks that only errors reject the package. */
async function problemsOf(...args: Parameters<typeof check>): Promise<string[]> {
  const { checked, problems } = await check(...args);
  expect(checked === null).toBe(problems.some(({ severity }) => severity === 'error'));
  return problems
    .filter(({ code }) => code !== NOT_RUN)
    .map(
      ({ severity, file, element, code }) =>
        `${severity === 'error' ? '' : 'warning '}${file}: ${element ?? '-'}: ${code}`,
    );
}

it('reports the display name of a node and suggests the closest name', async () => {
  const calls = { payload: { workflow: { resourceName: 'scores' } }, responseKey: 'x' };
  const start = node('start', 'START', ['x']);
  const { problems } = await check(
    packageDocument({
      workflows: [
        workflow([start, { ...node('x', 'SUBWORKFLOW', ['end'], calls), name: 'Rate the client' }]),
        workflow(undefined, { name: 'score' }),
      ],
    }),
  );
  expect(problems).toContainEqual({
    severity: 'error',
    code: 'WORKFLOW_NOT_FOUND',
    file: 'workflows/rate.json',
    element: 'x',
    elementName: 'Rate the client',
    message: 'There is no workflow "scores" in this package. Did you mean "score"?',
  });
});

it.each<[string, Record<string, unknown>[], string]>([
  [
    'the target node of a sequence',
    [node('start', 'START', ['ned'])],
    'Sequence "start-ned" leads to "ned", which does not exist. Did you mean "end"?',
  ],
  [
    'a node type',
    [node('start', 'START', ['x']), node('x', 'REST_ENDPIONT', ['end'])],
    'Nodes of type "REST_ENDPIONT" cannot be executed. Supported: START, END, CONDITION, DATA_MAPPING, REST_ENDPOINT, DATA_SOURCE, SUBWORKFLOW, CUSTOM_AGENT. Did you mean "REST_ENDPOINT"?',
  ],
  [
    'a member of a payload',
    [
      node('start', 'START', ['x']),
      node('x', 'SUBWORKFLOW', ['end'], { responseKey: 'r', payload: { worklfow: { resourceName: 'w' } } }),
    ],
    '/payload/worklfow: "worklfow" is not a known member. Did you mean "workflow"?',
  ],
  [
    'a type in a schema',
    [
      node('start', 'START', ['x']),
      node('x', 'CUSTOM_AGENT', ['end'], {
        responseKey: 'r',
        aiOptions: {
          aiType: 'CUSTOM_AGENT',
          operationPrompt: 'x',
          exampleOutputJsonSchema: { type: 'int' },
          mcpServers: [],
        },
      }),
    ],
    '"exampleOutputJsonSchema": #/type must be one or more of null, boolean, number, integer, string, array and object. Did you mean "integer"?',
  ],
])('suggests the closest name of %s, in a single problem', async (_what, nodes, message) => {
  const { problems } = await check(packageDocument({ workflows: [workflow(nodes)] }));
  const relevant = problems.filter((problem) => !['NODE_UNREACHABLE', NOT_RUN].includes(problem.code));
  expect(relevant.map((problem) => problem.message)).toEqual([message]);
});

it.each([
  [{ method: 'get' }, '/payload/method: "method" must be "GET" or "POST" or "PUT" or "PATCH" or "DELETE".'],
  [{ path: 7 }, '/payload/path: "path" must be a string.'],
  [{ path: 'orders' }, '/payload/path: "path" must start with "/".'],
  [{ timeoutSeconds: 301 }, '/payload/timeoutSeconds: "timeoutSeconds" must have at most the value 300.'],
])('reports the expected value for the invalid payload %j', async (payload, message) => {
  const { problems } = await check(
    packageDocument({
      workflows: [
        workflow([
          node('start', 'START', ['x']),
          node('x', 'REST_ENDPOINT', ['end'], {
            responseKey: 'r',
            payload: { system: { resourceName: 's' }, method: 'GET', ...payload },
          }),
        ]),
      ],
    }),
  );
  expect(problems.filter(({ code }) => code === 'PAYLOAD_INVALID').map((problem) => problem.message)).toEqual(
    [message],
  );
});

it('reports the allowed values of a member of a payload', async () => {
  const payload = { system: { resourceName: 's' }, collection: 'c', operation: 'find', sort: { a: 2 } };
  const { problems } = await check(
    packageDocument({
      workflows: [
        workflow([
          node('start', 'START', ['x']),
          node('x', 'DATA_SOURCE', ['end'], { responseKey: 'r', payload }),
        ]),
      ],
    }),
  );
  expect(problems.map((problem) => problem.message)).toContain('/payload/sort/a: "a" must be 1 or -1.');
});

it('reports the correct source of a sequence that names another node', async () => {
  const outgoingSequences = [{ id: 's', sourceNodeId: 'ask-client', targetNodeId: 'end' }];
  const { problems } = await check(
    packageDocument({ workflows: [workflow([node('start', 'START', [], { outgoingSequences })])] }),
  );
  expect(problems.map(({ message }) => message)).toEqual([
    'Sequence "s" of this node starts at "ask-client"; write "start".',
  ]);
});

it.each([
  [{ properties: { weight: {}, size: {} }, required: ['wight', 'size'] }, 'weight'],
  [{ properties: { weight: {} }, required: ['weight', 'colour'] }, undefined],
  [{ properties: { weight: {} }, required: ['weight', 'weights'] }, undefined],
  [{ required: ['wight'] }, undefined],
])('warns about a misspelled required member: %j', async (inputSchema, suggestion) => {
  const { problems } = await check(
    packageDocument({
      workflows: [workflow(undefined, { inputSchema: { type: 'object', ...inputSchema } })],
    }),
  );
  const message = `"inputSchema": "required" names "wight", which "properties" does not define. Did you mean "${suggestion}"?`;
  expect(problems.map((problem) => [problem.code, problem.message])).toEqual(
    suggestion === undefined ? [] : [['REQUIRED_UNKNOWN', message]],
  );
});

it('mentions FEEL for a condition that begins with "="', async () => {
  const conditions = [{ id: 'c', expression: '=x > 1', nextNodeId: 'end', order: 1 }];
  const { problems } = await check(
    packageDocument({
      workflows: [workflow([node('start', 'START', ['x']), node('x', 'CONDITION', ['end'], { conditions })])],
    }),
  );
  const [first] = problems.filter(({ code }) => code === 'EXPRESSION_INVALID');
  expect(first?.message).toContain('Condition "c" (this looks like FEEL');
});

/** Returns the problems of one node between START and END. */
function problemsOfNode(type: string, members: Record<string, unknown>, context: Partial<CheckContext> = {}) {
  return problemsOf(
    packageDocument({
      application: context.libraries === undefined ? application() : USES_LIBRARY,
      systems: [
        system(),
        system({ resourceName: 'core_rest', type: 'REST', baseUrl: 'https://core.example.com' }),
        system({ resourceName: 'store', type: 'NOSQL_DB', baseUrl: null }),
      ],
      workflows: [workflow([node('start', 'START', ['x']), node('x', type, ['end'], members)])],
    }),
    context,
  );
}

const AGENT = {
  responseKey: 'answer',
  aiOptions: {
    aiType: 'CUSTOM_AGENT',
    operationPrompt: 'Rate ${client.name}.',
    exampleOutputJsonSchema: { type: 'object', properties: { score: { type: 'number' } } },
    mcpServers: [{ resourceName: 'core_tools' }],
  },
};
const withOptions = (options: Record<string, unknown>) => ({
  ...AGENT,
  aiOptions: { ...AGENT.aiOptions, ...options },
});
const REST = {
  responseKey: 'core',
  payload: { system: { resourceName: 'core_rest' }, method: 'GET', path: '/clients/${client.id}' },
};
const withRequest = (request: Record<string, unknown>) => ({
  ...REST,
  payload: { ...REST.payload, ...request },
});
const DATA = {
  responseKey: 'found',
  payload: { system: { resourceName: 'store' }, collection: 'loans', operation: 'find' },
};
const withOperation = (operation: Record<string, unknown>) => ({
  ...DATA,
  payload: { ...DATA.payload, ...operation },
});

/** The flag of England. */
const ENGLAND = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';

describe('display names', () => {
  /** Returns a package in which all display names have this value. */
  const named = (name: string): Record<string, unknown> =>
    packageDocument({
      application: application({ name }),
      systems: [system({ name })],
      workflows: [workflow([node('start', 'START', ['end'], { name })])],
    });

  it.each([
    'De\u202ead',
    'a\nb',
    '\u2066a',
    'a\u0085',
    'a\u200b',
    '\ufeffa',
    'a\u2060',
    'a\u{e0041}',
    'a\u00adb',
  ])('must not be %j', async (name) => {
    expect(await problemsOf(named(name))).toEqual([
      'application.json: /name: DISPLAY_NAME_INVALID',
      'systems/core_tools.json: /name: DISPLAY_NAME_INVALID',
      'workflows/rate.json: start: DISPLAY_NAME_INVALID',
    ]);
  });

  it.each(['نمی\u200cخواهم', 'क्\u200dष', '👩\u200d💻', '❤\ufe0f', 'Überweisung', ENGLAND])(
    'may be %j',
    async (name) => {
      expect(await problemsOf(named(name))).toEqual([]);
    },
  );
});

describe('application.json', () => {
  it('must name the application in the path', async () => {
    expect(await problemsOf(packageDocument(), { appId: 'other' })).toEqual([
      'application.json: /appId: APPLICATION_MISMATCH',
    ]);
  });

  it('must name existing builds of libraries, each library once, and never itself', async () => {
    const libraries = [
      { appId: 'scoring', buildId: 'b1' },
      { appId: 'scoring', buildId: 'b1' },
      { appId: 'loans', buildId: 'b1' },
      { appId: 'missing', buildId: 'b1' },
    ];
    expect(
      await problemsOf(
        packageDocument({ application: application({ libraries }) }),
        { libraries: [LIBRARY] },
        { 'packageLimits.libraries': '4' },
      ),
    ).toEqual([
      'application.json: /libraries/1: LIBRARY_NOT_UNIQUE',
      'application.json: /libraries/2: LIBRARY_CYCLE',
      'application.json: /libraries/3: LIBRARY_NOT_FOUND',
    ]);
  });

  it('must not name an unknown build of a library', async () => {
    const libraries = [{ appId: 'scoring', buildId: 'b2' }];
    expect(
      await problemsOf(packageDocument({ application: application({ libraries }) }), {
        libraries: [LIBRARY],
      }),
    ).toEqual(['application.json: /libraries/0: LIBRARY_NOT_FOUND']);
  });

  it('must not name more libraries than the limit', async () => {
    expect(
      await problemsOf(
        packageDocument({ application: USES_LIBRARY }),
        { libraries: [LIBRARY] },
        { 'packageLimits.libraries': '0' },
      ),
    ).toEqual(['application.json: /libraries: TOO_MANY']);
  });

  it('must not have more minimum than maximum decimals', async () => {
    const numberDisplayFormat = { minDecimals: 3, maxDecimals: 2 };
    expect(
      await problemsOf(packageDocument({ application: application({ settings: { numberDisplayFormat } }) })),
    ).toEqual(['application.json: /settings/numberDisplayFormat/minDecimals: VALUE_INVALID']);
  });
});

describe('systems', () => {
  it('must have unique names, ignoring case', async () => {
    const systems = [system(), system({ resourceName: 'CORE_tools', file: 'systems/second.json' })];
    expect(await problemsOf(packageDocument({ systems }))).toEqual([
      'systems/second.json: /resourceName: SYSTEM_NAME_NOT_UNIQUE',
    ]);
  });

  it('must be in separate files', async () => {
    const systems = [system(), system({ resourceName: 'other', file: 'systems/core_tools.json' })];
    expect(await problemsOf(packageDocument({ systems }))).toEqual([
      'systems/core_tools.json: -: FILE_NOT_UNIQUE',
    ]);
  });

  it.each(['https://user:pass@example.com/mcp', 'https://', 'http://[::1/'])(
    'must not have the address %s',
    async (url) => {
      const service = withoutProcesses();
      const { package: pkg, problems } = service.parse(
        packageDocument({ systems: [system({ baseUrl: url })] }),
      );
      const found =
        pkg === null ? problems : (await service.check(pkg, { appId: 'loans', libraries: [] })).problems;
      const codes = found.map(({ code }) => code);
      expect(codes).toHaveLength(1);
      expect(codes[0]).toMatch(/^(URL|VALUE)_INVALID$/);
    },
  );

  it('must have valid CA certificates, and no client key', async () => {
    const tls = { caCertificates: 'no certificate' };
    expect(await problemsOf(packageDocument({ systems: [system({ tls })] }))).toEqual([
      'systems/core_tools.json: /tls/caCertificates: CERTIFICATES_INVALID',
    ]);
    const withKey = packageDocument({ systems: [system({ tls: { ...tls, clientKey: 'x' } })] });
    const { problems } = withoutProcesses().parse(withKey);
    expect(problems.map(({ severity }) => severity)).toContain('error');
  });

  it('must have a token endpoint without credentials', async () => {
    const configuration = { clientId: 'c', identityProviderUrl: 'https://a:b@sso.example.com/token' };
    expect(
      await problemsOf(
        packageDocument({ systems: [system({ authorization: { type: 'SERVICE_ACCOUNT', configuration } })] }),
      ),
    ).toEqual(['systems/core_tools.json: /authorization/configuration/identityProviderUrl: URL_INVALID']);
  });
});

describe('the flow of a workflow', () => {
  const flows: [string, Record<string, unknown>[], string[]][] = [
    ['no START', [], ['-: START_COUNT']],
    [
      'two STARTs',
      [node('start', 'START', ['end']), node('again', 'START', ['end'])],
      ['again: START_COUNT'],
    ],
    [
      'a sequence back to the START',
      [
        node('start', 'START', ['x']),
        node('x', 'CONDITION', ['start', 'end'], {
          conditions: [
            { id: 'k1', expression: 'true', nextNodeId: 'start', order: 1 },
            { id: 'k2', nextNodeId: 'end', order: 2, isDefault: true },
          ],
        }),
      ],
      ['start: START_WITH_INCOMING', 'start: WORKFLOW_CYCLE'],
    ],
    [
      'a cycle',
      [
        node('start', 'START', ['x']),
        node('x', 'DATA_MAPPING', ['y'], { inputBody: '{}' }),
        node('y', 'CONDITION', ['x', 'end'], {
          conditions: [
            { id: 'k1', expression: 'true', nextNodeId: 'x', order: 1 },
            { id: 'k2', nextNodeId: 'end', order: 2, isDefault: true },
          ],
        }),
      ],
      ['x: WORKFLOW_CYCLE'],
    ],
    [
      'an unreachable node',
      [node('start', 'START', ['end']), node('x', 'DATA_MAPPING', ['end'], { inputBody: '{}' })],
      ['x: NODE_UNREACHABLE'],
    ],
    [
      'a node without outgoing sequence',
      [node('start', 'START', ['x']), node('x', 'DATA_MAPPING', [], { inputBody: '{}' })],
      ['x: NODE_WITHOUT_OUTGOING', 'end: NODE_UNREACHABLE'],
    ],
    [
      'two outgoing sequences of a node that is not a CONDITION',
      [
        node('start', 'START', ['x']),
        node('x', 'DATA_MAPPING', ['y', 'end'], { inputBody: '{}' }),
        node('y', 'DATA_MAPPING', ['end'], { inputBody: '{}' }),
      ],
      ['x: TOO_MANY_OUTGOING'],
    ],
    [
      'a sequence to a node that does not exist',
      [node('start', 'START', ['nowhere'])],
      ['start: NODE_NOT_FOUND'],
    ],
    [
      'a sequence from an unreachable node to a node that does not exist',
      [node('start', 'START', ['end']), node('x', 'DATA_MAPPING', ['nowhere'], { inputBody: '{}' })],
      ['x: NODE_NOT_FOUND', 'x: NODE_UNREACHABLE'],
    ],
    [
      'a sequence whose source is another node',
      [
        node('start', 'START', [], {
          outgoingSequences: [{ id: 's', sourceNodeId: 'end', targetNodeId: 'end' }],
        }),
      ],
      ['start: SEQUENCE_SOURCE_MISMATCH'],
    ],
    [
      'two nodes with the same name',
      [node('start', 'START', ['x']), node('x', 'DATA_MAPPING', ['end'], { name: 'START', inputBody: '{}' })],
      ['x: NODE_NAME_NOT_UNIQUE'],
    ],
    [
      'two nodes with the same id',
      [
        node('start', 'START', ['end']),
        node('start', 'DATA_MAPPING', [], {
          name: 'other',
          inputBody: '{}',
          outgoingSequences: [{ id: 's', sourceNodeId: 'start', targetNodeId: 'end' }],
        }),
      ],
      ['start: ID_NOT_UNIQUE'],
    ],
  ];
  it.each(flows)('must not have %s', async (_what, nodes, expected) => {
    expect(await problemsOf(packageDocument({ workflows: [workflow(nodes)] }))).toEqual(
      expected.map((problem) => `workflows/rate.json: ${problem}`),
    );
  });

  it('must have an END without outgoing sequences', async () => {
    const loop = [node('start', 'START', ['end']), node('end', 'END', ['last']), node('last', 'END')];
    expect(await problemsOf(packageDocument({ workflows: [{ name: 'rate', nodes: loop }] }))).toEqual([
      'workflows/rate.json: end: END_WITH_OUTGOING',
    ]);
    const open = [node('start', 'START', ['x']), node('x', 'DATA_MAPPING', [], { inputBody: '{}' })];
    expect(await problemsOf(packageDocument({ workflows: [{ name: 'rate', nodes: open }] }))).toEqual([
      'workflows/rate.json: x: NODE_WITHOUT_OUTGOING',
      'workflows/rate.json: -: END_MISSING',
    ]);
  });

  it('may be a chain of the maximum number of nodes', async () => {
    const count = 499;
    const chain = Array.from({ length: count }, (_, index) =>
      node(
        `n${index}`,
        index === 0 ? 'START' : 'DATA_MAPPING',
        [index === count - 1 ? 'end' : `n${index + 1}`],
        index === 0 ? {} : { inputBody: '{}' },
      ),
    );
    expect(await problemsOf(packageDocument({ workflows: [workflow(chain)] }))).toEqual([]);
  });
});

/** Returns a workflow that runs another one. */
const caller = (name: string, called: string) =>
  workflow(
    [
      node('start', 'START', ['call']),
      node('call', 'SUBWORKFLOW', ['end'], {
        responseKey: 'r',
        payload: { workflow: { resourceName: called } },
      }),
    ],
    { name },
  );

describe('workflows', () => {
  it('must have unique names, ignoring case', async () => {
    const workflows = [workflow(), workflow(undefined, { name: 'RATE' })];
    expect(await problemsOf(packageDocument({ workflows }))).toContain(
      'workflows/RATE.json: /name: WORKFLOW_NAME_NOT_UNIQUE',
    );
  });

  it('must not run themselves, directly or indirectly', async () => {
    const workflows = [
      caller('a', 'b'),
      caller('b', 'C'),
      caller('c', 'a'),
      caller('d', 'a'),
      caller('e', 'e'),
    ];
    expect(await problemsOf(packageDocument({ workflows }))).toEqual([
      'workflows/a.json: -: WORKFLOW_RECURSION',
      'workflows/b.json: -: WORKFLOW_RECURSION',
      'workflows/c.json: -: WORKFLOW_RECURSION',
      'workflows/e.json: -: WORKFLOW_RECURSION',
    ]);
  });

  it('must have valid input and output schemas', async () => {
    const workflows = [
      workflow(undefined, {
        inputSchema: { type: 'texts' },
        outputSchema: { $ref: 'https://example.com/schema.json' },
      }),
    ];
    expect(await problemsOf(packageDocument({ workflows }))).toEqual([
      'workflows/rate.json: /inputSchema: SCHEMA_INVALID',
      'workflows/rate.json: /outputSchema: SCHEMA_INVALID',
    ]);
  });

  it('give a node the same UUID in every version, and keep a specified UUID', async () => {
    const given = '0B6F2C68-6DD1-4A9A-BB5F-4B6B3B7B9A10';
    const document = () =>
      packageDocument({ workflows: [workflow([node('start', 'START', ['end'], { svcUuid: given })])] });
    const { checked } = await check(document());
    const [start, end] = checked!.workflows[0]!.nodes;
    expect(start?.svcUuid).toBe(given.toLowerCase());
    expect(end?.svcUuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const again = await check(document());
    expect(again.checked!.workflows[0]!.nodes[1]?.svcUuid).toBe(end?.svcUuid);
  });
});

describe('a node', () => {
  const X = 'workflows/rate.json: x:';
  it.each<[string, string, Record<string, unknown>, string[]]>([
    ['must have a supported type', 'SCRIPT', {}, [`${X} NODE_TYPE_UNSUPPORTED`]],
    [
      'must not have a prototype in its responseKey',
      'DATA_MAPPING',
      { inputBody: '{}', responseKey: 'a.__proto__' },
      [`${X} EXPRESSION_INVALID`],
    ],
    [
      'must have a responseKey that starts with a name',
      'DATA_MAPPING',
      { inputBody: '{}', responseKey: '[0].b' },
      [`${X} EXPRESSION_INVALID`],
    ],
    [
      'must have a valid JSON inputBody',
      'DATA_MAPPING',
      { inputBody: '{"a": ' },
      [`${X} EXPRESSION_INVALID`],
    ],
    ['must have an inputBody', 'DATA_MAPPING', {}, [`${X} INPUT_BODY_MISSING`]],
    [
      'must not have conditions unless it is a CONDITION',
      'DATA_MAPPING',
      { inputBody: '{}', conditions: [{ id: 'k', expression: 'true', nextNodeId: 'end', order: 1 }] },
      [`${X} MEMBER_MISPLACED`],
    ],
    [
      'must not have aiOptions unless it is a CUSTOM_AGENT',
      'DATA_MAPPING',
      { ...AGENT, inputBody: '{}' },
      [`${X} MEMBER_MISPLACED`],
    ],
    [
      'must not have a payload unless its type uses one',
      'DATA_MAPPING',
      { payload: { a: 1 }, inputBody: '{}' },
      [`${X} MEMBER_MISPLACED`],
    ],
    [
      'must not have a responseKey if its type stores nothing',
      'CONDITION',
      { responseKey: 'a', conditions: [{ id: 'k', nextNodeId: 'end', order: 1, isDefault: true }] },
      [`${X} MEMBER_MISPLACED`],
    ],
    [
      'may store a mapping',
      'DATA_MAPPING',
      { inputBody: '{"a": ${b}}', responseKey: 'a.b[0]["c d"]', payload: {} },
      [],
    ],
  ])('%s', async (_what, type, members, expected) => {
    expect(await problemsOfNode(type, members)).toEqual(expected);
  });

  it.each([
    [{ errorCode: 'REJECTED' }, []],
    [{}, []],
    [{ errorCode: ' E' }, ['PAYLOAD_INVALID']],
    [{ errorCode: 'E', message: 'no' }, ['PAYLOAD_INVALID']],
  ])('of type END may have the payload %o: %o', async (payload, codes) => {
    const nodes = [node('start', 'START', ['x']), node('x', 'END', [], { payload })];
    const found = await problemsOf(packageDocument({ workflows: [workflow([], { nodes })] }));
    expect(found.map((line) => line.split(' ').at(-1))).toEqual(codes);
  });

  it.each<[string, Record<string, unknown>[], string[]]>([
    ['needs conditions', [], [`${X} CONDITIONS_MISSING`]],
    [
      'needs CEL',
      [{ id: 'k', expression: 'a >', nextNodeId: 'end', order: 1 }],
      [`warning ${X} DEFAULT_MISSING`, `${X} EXPRESSION_INVALID`],
    ],
    [
      'needs an expression',
      [{ id: 'k', nextNodeId: 'end', order: 1 }],
      [`warning ${X} DEFAULT_MISSING`, `${X} EXPRESSION_MISSING`],
    ],
    [
      'needs a sequence for each condition',
      [{ id: 'k', nextNodeId: 'start', order: 1, isDefault: true }],
      [`${X} CONDITION_WITHOUT_SEQUENCE`, `warning ${X} SEQUENCE_WITHOUT_CONDITION`],
    ],
    [
      'must not have two defaults',
      [
        { id: 'k1', nextNodeId: 'end', order: 1, isDefault: true },
        { id: 'k2', nextNodeId: 'end', order: 1, isDefault: true },
      ],
      [`${X} DEFAULT_NOT_UNIQUE`],
    ],
    [
      'needs a default without expression',
      [{ id: 'k', expression: 'true', nextNodeId: 'end', order: 1, isDefault: true }],
      [`${X} DEFAULT_WITH_EXPRESSION`],
    ],
    [
      'needs conditions in a defined order',
      [
        { id: 'k1', expression: 'a', nextNodeId: 'end', order: 1 },
        { id: 'k2', expression: 'b', nextNodeId: 'end', order: 1 },
      ],
      [`warning ${X} DEFAULT_MISSING`, `${X} ORDER_NOT_UNIQUE`],
    ],
    [
      'needs unique ids of conditions',
      [
        { id: 'k', expression: 'a', nextNodeId: 'end', order: 1 },
        { id: 'k', nextNodeId: 'end', order: 2, isDefault: true },
      ],
      [`${X} ID_NOT_UNIQUE`],
    ],
    [
      'may be valid',
      [
        { id: 'k1', expression: 'a > 1', nextNodeId: 'end', order: 1 },
        { id: 'k2', expression: '', nextNodeId: 'end', order: 2, isDefault: true },
      ],
      [],
    ],
  ])('of type CONDITION %s', async (_what, conditions, expected) => {
    expect(await problemsOfNode('CONDITION', { conditions })).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['may be valid', AGENT, []],
    ['needs options', { responseKey: 'a' }, [`${X} AI_OPTIONS_MISSING`]],
    ['needs a responseKey', { ...AGENT, responseKey: '' }, [`${X} RESPONSE_KEY_MISSING`]],
    [
      'needs a prompt with closed references',
      withOptions({ operationPrompt: 'Rate ${' }),
      [`${X} EXPRESSION_INVALID`],
    ],
    ['needs a schema', withOptions({ exampleOutputJsonSchema: { properties: [] } }), [`${X} SCHEMA_INVALID`]],
    [
      'needs a schema within the size limit',
      withOptions({ exampleOutputJsonSchema: { enum: Array.from({ length: 2_000 }, (_, index) => index) } }),
      [`${X} SCHEMA_INVALID`],
    ],
    [
      'needs systems that exist',
      withOptions({ mcpServers: [{ resourceName: 'nobody' }] }),
      [`${X} SYSTEM_NOT_FOUND`],
    ],
    [
      'needs MCP systems',
      withOptions({ mcpServers: [{ resourceName: 'core_rest' }] }),
      [`${X} SYSTEM_TYPE_MISMATCH`],
    ],
    [
      'needs systems with a name',
      withOptions({ mcpServers: [{ appId: 'loans' }] }),
      [`${X} REFERENCE_INVALID`],
    ],
    [
      'needs libraries that the package names',
      withOptions({ mcpServers: [{ resourceName: 'bureau', appId: 'scoring' }] }),
      [`${X} SYSTEM_NOT_FOUND`],
    ],
  ])('of type CUSTOM_AGENT %s', async (_what, members, expected) => {
    expect(await problemsOfNode('CUSTOM_AGENT', members)).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['may be valid', REST, []],
    ['needs a payload', { responseKey: 'a' }, [`${X} PAYLOAD_MISSING`]],
    ['needs closed references', withRequest({ queryParameters: { q: '${' } }), [`${X} EXPRESSION_INVALID`]],
    [
      'must not contain credentials',
      withRequest({ headers: { Authorization: 'Bearer x' } }),
      [`${X} HEADER_FORBIDDEN`],
    ],
    ['needs valid header names', withRequest({ headers: { 'a b': 'x' } }), [`${X} HEADER_FORBIDDEN`]],
    [
      'needs a REST system',
      withRequest({ system: { resourceName: 'store' } }),
      [`${X} SYSTEM_TYPE_MISMATCH`],
    ],
  ])('of type REST_ENDPOINT %s', async (_what, members, expected) => {
    expect(await problemsOfNode('REST_ENDPOINT', members)).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['may be valid', DATA, []],
    ['needs a document', withOperation({ operation: 'insertOne' }), [`${X} PAYLOAD_INVALID`]],
    ['may insert a list', withOperation({ operation: 'insertMany', documents: '${loans}' }), []],
    [
      'must not change a whole collection',
      withOperation({ operation: 'updateMany', update: { $set: { a: 1 } } }),
      [`${X} FILTER_MISSING`],
    ],
    [
      'must not run scripts',
      withOperation({ filter: { $or: [{ $where: 'sleep(1e9)' }] } }),
      [`${X} OPERATOR_FORBIDDEN`],
    ],
    ['needs closed references', withOperation({ filter: { a: '${' } }), [`${X} EXPRESSION_INVALID`]],
    [
      'needs a NOSQL_DB system',
      withOperation({ system: { resourceName: 'core_rest' } }),
      [`${X} SYSTEM_TYPE_MISMATCH`],
    ],
  ])('of type DATA_SOURCE %s', async (_what, members, expected) => {
    expect(await problemsOfNode('DATA_SOURCE', members)).toEqual(expected);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['needs a workflow', { responseKey: 'r' }, [`${X} REFERENCE_INVALID`]],
    [
      'needs a workflow that exists',
      { responseKey: 'r', payload: { workflow: { resourceName: 'gone' } } },
      [`${X} WORKFLOW_NOT_FOUND`],
    ],
    [
      'needs a definition that exists',
      { responseKey: 'r', subWorkflowResourceDefinitionId: 'gone' },
      [`${X} WORKFLOW_NOT_FOUND`],
    ],
    [
      'needs a payload with known members',
      { responseKey: 'r', payload: { name: 'rate' } },
      [`${X} PAYLOAD_INVALID`, `${X} PAYLOAD_INVALID`],
    ],
  ])('of type SUBWORKFLOW %s', async (_what, members, expected) => {
    expect(await problemsOfNode('SUBWORKFLOW', members)).toEqual(expected);
  });
});

describe('references', () => {
  it('can refer to a library of the package, by name or by definition id', async () => {
    const mcpServers = [
      { resourceName: 'BUREAU', appId: 'scoring' },
      { resourceDefinitionId: 'sd-bureau', appId: 'scoring' },
      { resourceName: 'core_tools' },
      { resourceDefinitionId: 'sd-core', appId: 'loans' },
    ];
    const document = packageDocument({
      application: USES_LIBRARY,
      systems: [system()],
      workflows: [
        workflow([
          node('start', 'START', ['agent']),
          node('agent', 'CUSTOM_AGENT', ['call'], withOptions({ mcpServers })),
          node('call', 'SUBWORKFLOW', ['end'], {
            responseKey: 'r',
            payload: { workflow: { resourceName: 'score', appId: 'scoring' } },
          }),
        ]),
      ],
    });
    const definitionIds = { systems: new Map([['core_tools', 'sd-core']]), workflows: new Map() };
    const { checked, problems } = await check(document, { libraries: [LIBRARY], definitionIds });
    expect(problems.filter(({ code }) => code !== NOT_RUN)).toEqual([]);
    const [, agent, call] = checked!.workflows[0]!.nodes;
    const bureau = { appId: 'scoring', resourceName: 'bureau', resourceDefinitionId: 'sd-bureau' };
    const core = { appId: 'loans', resourceName: 'core_tools', resourceDefinitionId: null };
    expect(agent?.aiOptions?.mcpServers).toEqual([bureau, bureau, core, core]);
    expect(call).toMatchObject({
      subWorkflowResourceDefinitionId: 'wd-score',
      payload: { workflow: { appId: 'scoring', resourceName: 'score', resourceDefinitionId: 'wd-score' } },
    });
  });

  it('are invalid if the id belongs to a system that the package no longer contains', async () => {
    const definitionIds = { systems: new Map([['old', 'sd-old']]), workflows: new Map() };
    expect(
      await problemsOfNode(
        'CUSTOM_AGENT',
        withOptions({ mcpServers: [{ resourceDefinitionId: 'sd-old' }] }),
        {
          definitionIds,
        },
      ),
    ).toEqual(['workflows/rate.json: x: SYSTEM_NOT_FOUND']);
  });

  it('are invalid if id and name belong to different systems', async () => {
    const mcpServers = [{ resourceDefinitionId: 'sd-ledger', resourceName: 'bureau', appId: 'scoring' }];
    expect(
      await problemsOfNode('CUSTOM_AGENT', withOptions({ mcpServers }), { libraries: [LIBRARY] }),
    ).toEqual(['workflows/rate.json: x: SYSTEM_NOT_FOUND']);
  });
});

it('reports all problems at once', async () => {
  const document = packageDocument({
    application: application({ libraries: [{ appId: 'gone', buildId: 'b' }] }),
    systems: [system(), system({ file: 'systems/b.json' })],
    workflows: [
      workflow([
        node('start', 'START', ['x']),
        node('x', 'CUSTOM_AGENT', ['y'], withOptions({ mcpServers: [{ resourceName: 'gone' }] })),
        node('y', 'SCRIPT', ['end']),
      ]),
    ],
  });
  expect(await problemsOf(document, { appId: 'other' })).toEqual([
    'application.json: /appId: APPLICATION_MISMATCH',
    'application.json: /libraries/0: LIBRARY_NOT_FOUND',
    'systems/b.json: /resourceName: SYSTEM_NAME_NOT_UNIQUE',
    'workflows/rate.json: x: SYSTEM_NOT_FOUND',
    'workflows/rate.json: y: NODE_TYPE_UNSUPPORTED',
  ]);
});

it.each<[string, string[]]>([
  ['DATA_SOURCE', ['warning x']],
  ['CUSTOM_AGENT', []],
])('warns about nodes that this release cannot run: %s', async (type, expected) => {
  const members = type === 'CUSTOM_AGENT' ? AGENT : { responseKey: 'a' };
  const { problems } = await check(
    packageDocument({
      systems: [system()],
      workflows: [workflow([node('start', 'START', ['x']), node('x', type, ['end'], members)])],
    }),
  );
  const found = problems.filter(({ code }) => code === NOT_RUN);
  expect(found.map(({ severity, element }) => `${severity} ${element}`)).toEqual(expected);
});
