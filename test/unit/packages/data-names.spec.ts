import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { TECHNICAL_CODES } from '../../../src/delivery/packages/check/error-codes.js';
import { PackagesService } from '../../../src/delivery/packages/packages.service.js';
import { ProcessCompiler } from '#engine/definitions';
import { flows, node, processFile, serviceTask, userTask } from '../../support/runtime/process-files.js';
import { calling, mapping, workflowOf } from '../../support/runtime/publish.js';
import { packageDocument, settings } from './package-fixture.js';

const env = settings();
const service = new PackagesService(env);

/** `element: code: hint` of each problem of a package, none of which is an error. */
async function told(parts: Record<string, unknown>): Promise<string[]> {
  const { package: pkg, problems: shape } = service.parse(packageDocument(parts));
  expect(shape).toEqual([]);
  const { checked, problems } = await service.check(pkg!, { appId: 'loans', libraries: [] });
  expect(checked).not.toBeNull();
  return problems.map(({ element, code, message }) => {
    const hint = /Did you mean "(.+)"\?/.exec(message)?.[1];
    return `${element}: ${code}${hint === undefined ? '' : `: ${hint}`}`;
  });
}

const INPUT = {
  type: 'object',
  properties: {
    client: { type: 'object', properties: { name: { type: 'string' }, address: {} } },
    amount: { type: 'number' },
  },
};
const schemaOf = (schema: object | null) =>
  schema === null
    ? ''
    : `<bpmn:extensionElements><svc:inputSchema>${JSON.stringify(schema)}</svc:inputSchema></bpmn:extensionElements>`;

/** start, the elements given in a row, end. */
function processOf(name: string, schema: object | null, elements: [string, string][], more = ''): object {
  const way = ['start', ...elements.map(([id]) => id), 'end'];
  const text = way.slice(1).map((id, index) => `${way[index]}>${id}`);
  const content = [
    schemaOf(schema),
    node('startEvent', 'start'),
    ...elements.map(([, element]) => element),
    node('endEvent', 'end'),
    flows(text.join(' ')),
    more,
  ];
  return { file: `processes/${name}.bpmn`, bpmn: processFile(name, content.join('\n')) };
}
const saving = (id: string, data: object, keys = '*'): [string, string] => [
  id,
  serviceTask(id, [{ name: 'save', keys, inner: `<svc:data>${JSON.stringify(data)}</svc:data>` }]),
];
const asking = (id: string, schema: object, keys = '*'): [string, string] => {
  const bodySchema = `<svc:bodySchema>${JSON.stringify(schema)}</svc:bodySchema>`;
  return [
    id,
    userTask(id, {
      actions: [{ name: 'done', manual: true, keys }],
      uiActions: { done: bodySchema },
    }),
  ];
};

describe('names that a process reads', () => {
  it.each<[string, object, string[]]>([
    [
      'a member that the input schema does not have',
      { x: '${clinet.name}' },
      ['a: NAME_UNKNOWN: client.name'],
    ],
    ['a member below it', { x: '${client.nam}' }, ['a: NAME_UNKNOWN: client.name']],
    ['one that is near to nothing', { x: '${weather}' }, ['a: NAME_UNKNOWN']],
    ['one in an expression', { x: '${amuont * 2}' }, ['a: NAME_UNKNOWN: amount']],
    ['what the schema leaves open', { x: '${client.address.city}' }, []],
    ['all data by its alias', { x: '${input.amount}', y: '${input}' }, []],
    ['what is always there', { x: '${processInstanceId} ${parentProcessInstanceId}' }, []],
    ['a wrong name behind the alias', { x: '${input.amuont}' }, ['a: NAME_UNKNOWN: amount']],
  ])('tells %s', async (_what, data, expected) => {
    expect(await told({ processes: [processOf('p', INPUT, [saving('a', data)])] })).toEqual(expected);
  });

  it('tells a name by which instances are to be found', async () => {
    const lines = { lines: { type: 'array', items: { type: 'object', properties: { price: {} } } } };
    const input = { ...INPUT, properties: { ...INPUT.properties, ...lines } };
    const { file, bpmn } = processOf('p', input, [saving('s', { saved: 1 })]) as {
      file: string;
      bpmn: string;
    };
    const searched = (paths: string) =>
      told({ processes: [{ file, bpmn: bpmn.replace('name="p"', `name="p" svc:searchable="${paths}"`) }] });
    expect(await searched('client.name, saved, client.address.city, lines[0].price')).toEqual([]);
    expect(await searched('processInstanceId')).toEqual(['P_p: NAME_UNKNOWN']);
    expect(await searched('clinet.name')).toEqual(['P_p: NAME_UNKNOWN: client.name']);
    expect(await searched('lines[0].prise')).toEqual(['P_p: NAME_UNKNOWN: lines.price']);
  });

  it('knows what actions save, what people send, and where results go', async () => {
    const body = { type: 'object', properties: { decision: { type: 'object', properties: { ok: {} } } } };
    const rate: [string, string] = [
      'rate',
      serviceTask('rate', [
        { name: 'run', kind: 'startWorkflow', workflow: 'rate', resultKey: 'rating.result' },
      ]),
    ];
    const reads = (text: string) => [
      processOf('p', INPUT, [
        saving('s', { saved: { at: 1 } }),
        rate,
        asking('u', body),
        saving('a', { x: text }),
      ]),
    ];
    const workflows = [
      {
        name: 'rate',
        nodes: [
          {
            id: 'start',
            type: 'START',
            name: 'start',
            outgoingSequences: [{ id: 's', sourceNodeId: 'start', targetNodeId: 'end' }],
          },
          { id: 'end', type: 'END', name: 'end' },
        ],
      },
    ];
    for (const known of ['saved.at', 'rating.result.score', 'rating', 'decision.ok', 'client.name']) {
      expect(await told({ processes: reads(`\${${known}}`), workflows })).toEqual([]);
    }
    expect(await told({ processes: reads('${decision.oks}'), workflows })).toEqual([
      'a: NAME_UNKNOWN: decision.ok',
    ]);
    expect(await told({ processes: reads('${ratings}'), workflows })).toEqual(['a: NAME_UNKNOWN: rating']);
  });

  it('knows the result of a workflow by its outputSchema', async () => {
    const rate = (resultKey: string): [string, string] => [
      'rate',
      serviceTask('rate', [{ name: 'run', kind: 'startWorkflow', workflow: 'rate', resultKey }]),
    ];
    const outputSchema = {
      $defs: { price: { type: 'object', properties: { amount: { type: 'number' } } } },
      type: 'object',
      properties: { price: { $ref: '#/$defs/price' } },
    };
    const readsResult = (resultKey: string, text: string) =>
      told({
        processes: [processOf('p', INPUT, [rate(resultKey), saving('a', { x: text })])],
        workflows: [workflowOf('rate', [], { outputSchema })],
      });
    expect(await readsResult('quote', '${quote.price.amount} ${quote}')).toEqual([]);
    expect(await readsResult('quote', '${quote.prcie.amount}')).toEqual([
      'a: NAME_UNKNOWN: quote.price.amount',
    ]);
    expect(await readsResult('a.quote', '${a.quote.price.amuont}')).toEqual([
      'a: NAME_UNKNOWN: a.quote.price.amount',
    ]);
    expect(await readsResult('quotes[0]', '${quotes[0].prcie}')).toEqual([]);
  });

  it('looks into conditions, and tells the flow', async () => {
    const content = [
      schemaOf(INPUT),
      node('startEvent', 'start'),
      node('exclusiveGateway', 'g'),
      node('endEvent', 'x'),
      node('endEvent', 'y'),
      flows('start>g g>x[amount > 1] g>y[has(clinet.name)]'),
    ];
    const processes = [{ file: 'processes/p.bpmn', bpmn: processFile('p', content.join('\n')) }];
    expect(await told({ processes })).toEqual(['g_y: NAME_UNKNOWN: client.name']);
  });

  it('tells only what is nearly a known name where any data may come in', async () => {
    const body = { type: 'object', properties: { approval: {} } };
    const reads = (text: string) => [
      processOf('p', null, [asking('u', body, 'approval'), saving('a', { x: text })]),
    ];
    expect(await told({ processes: reads('${anything.at.all}') })).toEqual([]);
    expect(await told({ processes: reads('${aproval}') })).toEqual(['a: NAME_UNKNOWN: approval']);
  });

  it('says nothing of a process that another one calls: it brings its data', async () => {
    const called = processOf('called', INPUT, [saving('a', { x: '${weather}' })]);
    const caller = processOf('caller', INPUT, [
      ['call', node('callActivity', 'call', '', 'calledElement="called"')],
    ]);
    expect(await told({ processes: [called] })).toEqual(['a: NAME_UNKNOWN']);
    expect(await told({ processes: [called, caller] })).toEqual([]);
  });
});

describe('names that a workflow reads', () => {
  const agent = {
    id: 'ask',
    type: 'CUSTOM_AGENT',
    responseKey: 'found.answer',
    aiOptions: {
      aiType: 'CUSTOM_AGENT',
      operationPrompt: 'Rate it.',
      exampleOutputJsonSchema: { type: 'object', properties: { score: { type: 'number' } } },
      mcpServers: [],
    },
  };
  const flow = (reads: string, inputSchema: object | null, before: Record<string, unknown>[] = []) => ({
    workflows: [workflowOf('flow', [...before, mapping('map', { x: reads })], { inputSchema })],
  });

  it.each<[string, string, object | null, string[]]>([
    ['of the input', '${clinet.name}', INPUT, ['map: NAME_UNKNOWN: client.name']],
    ['that the input has', '${client.name} ${input.amount}', INPUT, []],
    ['that a node has stored', '${map.anything}', INPUT, []],
    ['of an answer', '${found.answer.scoer}', INPUT, ['map: NAME_UNKNOWN: found.answer.score']],
    [
      'of an answer, beside any input',
      '${found.answer.scoer}',
      null,
      ['map: NAME_UNKNOWN: found.answer.score'],
    ],
    ['of an input that may be anything', '${clinet.name}', null, []],
  ])('%s', async (_what, reads, schema, expected) => {
    const problems = await told(flow(reads, schema, [agent]));
    expect(problems.filter((problem) => problem.includes('NAME_UNKNOWN'))).toEqual(expected);
  });

  it.each<[string, object | null, string[]]>([
    ['${answer.data.cents} ${answer.status} ${answer.headers.etag}', INPUT, []],
    ['${answer.body.cents}', INPUT, ['map: NAME_UNKNOWN']],
    ['${answer.body.cents}', null, ['map: NAME_UNKNOWN']],
    ['${answer.dta.cents}', null, ['map: NAME_UNKNOWN: answer.data.cents']],
    ['${answer.headers.cookie}', INPUT, ['map: NAME_UNKNOWN']],
  ])('of the answer of an endpoint: %s', async (reads, schema, expected) => {
    const payload = { system: { resourceName: 'prices' }, method: 'GET' };
    const call = { id: 'call', type: 'REST_ENDPOINT', payload, responseKey: 'answer' };
    const system = {
      resourceName: 'prices',
      name: 'Prices',
      type: 'REST',
      baseUrl: 'https://prices.example.com',
      authorization: { type: 'NO_AUTH' },
    };
    const problems = await told({ ...flow(reads, schema, [call]), systems: [system] });
    expect(problems.filter((problem) => problem.includes('NAME_UNKNOWN'))).toEqual(expected);
  });

  it('are passed over where a mapping may store any name', async () => {
    const merging = mapping('merge', { weather: 1 }, null);
    expect(await told(flow('${weather}', INPUT, [merging]))).toEqual([]);
    expect(await told(flow('${weather}', INPUT))).toEqual(['map: NAME_UNKNOWN']);
  });
});

describe('what is given to a workflow', () => {
  const called = workflowOf('rate', [], { inputSchema: { ...INPUT, required: ['amount'] } });
  const started = (input: object) => {
    const inner = `<svc:input>${JSON.stringify(input)}</svc:input>`;
    const task = serviceTask('a', [{ name: 'run', kind: 'startWorkflow', workflow: 'rate', inner }]);
    return told({ processes: [processOf('p', null, [['a', task]])], workflows: [called] });
  };

  it('by an action of a process is held against the input schema', async () => {
    expect(await started({ amount: 7, client: '${c}' })).toEqual([]);
    expect(await started({ amuont: 7 })).toEqual(['a: INPUT_UNKNOWN: amount', 'a: INPUT_MISSING']);
  });

  it('by a node is, too, where its members are known', async () => {
    const calls = (inputBody: unknown) => {
      const sub = { ...calling('sub', 'rate'), inputBody };
      return told({ workflows: [workflowOf('flow', [sub]), called] });
    };
    expect(await calls({ client: {} })).toEqual(['sub: INPUT_MISSING']);
    expect(await calls('{"amuont": ${x}}')).toEqual([]);
    expect(await calls({ amount: 1 })).toEqual([]);
  });

  it('is looked at up to a fixed amount of work for all calls of a package', async () => {
    const required = Array.from({ length: 7_000 }, (_, index) => `m${index}`);
    const hungry = workflowOf('hungry', [], { inputSchema: { type: 'object', required } });
    const calls = Array.from({ length: 400 }, (_, index) =>
      calling(`call${index}`, 'hungry', undefined, { inputBody: { m1: 1 } }),
    );
    const problems = await told({ workflows: [workflowOf('flow', calls), hungry] });
    // Five of each call, and the most that are told of a package are 500.
    expect(new Set(problems).size).toBeGreaterThan(30);
    expect(new Set(problems).size).toBeLessThan(90);
  });
});

describe('codes of error boundary events', () => {
  const sub = (code: string) =>
    node(
      'subProcess',
      'sub',
      `${node('startEvent', 'in')}${node('endEvent', 'bad', `<bpmn:errorEventDefinition errorRef="${code}"/>`)}${flows('in>bad')}`,
    );
  const boundary = (code: string) =>
    node('boundaryEvent', 'b', `<bpmn:errorEventDefinition errorRef="${code}"/>`, 'attachedToRef="sub"');
  const outside = ['REJECTED', 'REJECTD', 'REST_STATUS', 'REST_STATSU', 'NODE_OF_OURS']
    .map((code) => `<bpmn:error id="${code}" errorCode="${code}"/>`)
    .join('');
  const caught = (code: string) => {
    const content = [
      node('startEvent', 'start'),
      sub('REJECTED'),
      boundary(code),
      node('endEvent', 'end'),
      flows('start>sub sub>end b>end'),
    ].join('');
    return told({ processes: [{ file: 'processes/p.bpmn', bpmn: processFile('p', content, { outside }) }] });
  };

  it('are told where nothing in the package throws them', async () => {
    expect(await caught('REJECTED')).toEqual([]);
    expect(await caught('REST_STATUS')).toEqual([]);
    expect(await caught('REJECTD')).toEqual(['b: BOUNDARY_NEVER_FIRES: REJECTED']);
  });

  it('are told too where they only look like those of technical failures', async () => {
    expect(await caught('REST_STATSU')).toEqual(['b: BOUNDARY_NEVER_FIRES: REST_STATUS']);
    expect(await caught('NODE_OF_OURS')).toEqual(['b: BOUNDARY_NEVER_FIRES']);
  });

  it('know the technical failures that the documents list', async () => {
    const sectionOf = async (file: string, begin: string): Promise<string> =>
      (await readFile(file, 'utf8')).split(begin)[1]?.split('\n\n')[0] ?? '';
    const bpmn = await sectionOf('docs/bpmn.md', '| Code | Technical failure |');
    const agents = await sectionOf('docs/agents.md', '| Code | What happened | What to do |');
    const firstCells = `${bpmn}\n${agents}`.match(/^\| `[^|]+ \|/gm) ?? [];
    const codes = new Set(firstCells.join('').match(/(?<=`)[A-Z]+_[A-Z_]+(?=`)/g));
    expect([...TECHNICAL_CODES].toSorted()).toEqual([...codes].toSorted());
  });
});

describe('correlations of messages', () => {
  const NAMED = { type: 'object', properties: { order: {} }, additionalProperties: false };
  const waiting = (correlation: string): [string, string] => [
    'wait',
    node(
      'intermediateCatchEvent',
      'wait',
      `<bpmn:messageEventDefinition messageRef="M" svc:correlation="${correlation}"/>`,
    ),
  ];
  const sending = (correlation: string): [string, string] => [
    'send',
    serviceTask('send', [{ name: 'send', kind: 'sendMessage', message: 'paid', correlation }]),
  ];
  const warned = async (
    schema: object | null,
    elements: [string, string][],
    start = '',
    also: ConstructorParameters<typeof ProcessCompiler>[0] = {},
  ): Promise<string[]> => {
    const { file, bpmn } = processOf('p', schema, elements) as { file: string; bpmn: string };
    const xml = bpmn
      .replace('<bpmn:process', '<bpmn:message id="M" name="paid"/><bpmn:process')
      .replace('<bpmn:startEvent id="start"', `<bpmn:startEvent id="start" ${start}`);
    const compiler = new ProcessCompiler(also);
    const { problems } = await compiler.compile({ name: file, xml }, { appId: 'loans' });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    return problems
      .filter(({ code }) => code === 'CORRELATION_FROM_START')
      .map(({ element, message }) => `${element}: ${/"(.+?)"/.exec(message)?.[1]}`);
  };

  it('that come from the body of a start that is open to everybody are a warning', async () => {
    expect(await warned(null, [waiting('order')])).toEqual(['wait: order']);
    expect(await warned(NAMED, [waiting('order')])).toEqual(['wait: order']);
    expect(await warned(null, [sending("'x' + order.id")])).toEqual(['send: order.id']);
    expect(await warned(NAMED, [saving('save', { order: 1 }), waiting('order')])).toEqual(['wait: order']);
  });

  it.each<[string, object | null, [string, string][], string[]]>([
    ['a copy', null, [saving('s', { made: '${order}' }), waiting('made')], ['wait: made']],
    [
      'a copy of what a schema names',
      NAMED,
      [saving('s', { made: 'x-${order}' }), waiting('made')],
      ['wait: made'],
    ],
    ['a part of a copy', null, [saving('s', { all: '${input}' }), waiting('all.order')], ['wait: all.order']],
    [
      'a member that is written from itself',
      null,
      [saving('s', { o: { id: '${o.x}' } }), waiting('o.id')],
      ['wait: o.id'],
    ],
    [
      'a copy of a copy',
      null,
      [saving('s', { a: ['${order}'] }), saving('t', { b: '${a[0]}' }), waiting('b')],
      ['wait: b'],
    ],
    ['what is only written later', null, [waiting('order'), saving('s', { order: 1 })], ['wait: order']],
    [
      'what is overwritten with it',
      null,
      [saving('s', { a: 1 }), saving('t', { a: '${b}' }), waiting('a')],
      ['wait: a'],
    ],
    ['another member', null, [saving('s', { o: { a: 1 } }), waiting('o.b')], ['wait: o.b']],
    [
      'what a merge leaves, where what is written has no such member',
      NAMED,
      [saving('s', { order: '${lookup}' }), waiting('order.id')],
      ['wait: order.id'],
    ],
    [
      'an object around it',
      null,
      [saving('s', { o: { a: 1 } }), saving('t', { b: 'x-${o}' }), waiting('b')],
      ['wait: b'],
    ],
    ['what no key takes', null, [saving('s', { a: 1, b: 1 }, 'a, o.id'), waiting('b')], ['wait: b']],
    ['what a key takes', null, [saving('s', { a: 1, o: { id: 1 } }, 'a, o.id'), waiting('a + o.id')], []],
    ['itself for ever', null, [saving('s', { a: '${b}', b: '${a}' }), waiting('a')], ['wait: a']],
    ['a copy of what nobody chooses', null, [saving('s', { a: 'x-${processInstanceId}' }), waiting('a')], []],
    [
      'what was written before',
      null,
      [saving('s', { order: 1 }), saving('t', { a: '${order}' }), waiting('a')],
      [],
    ],
    ['a fixed part', null, [saving('s', { o: { a: 1 } }), saving('t', { a: '${o.a}' }), waiting('a')], []],
  ])('that read %s', async (_what, schema, elements, expected) => {
    expect(await warned(schema, elements)).toEqual(expected);
  });

  it('are followed out of subprocesses and over boundary events', async () => {
    const sub = (data: object): [string, string] => [
      'sub',
      node(
        'subProcess',
        'sub',
        `${node('startEvent', 'in')}${saving('s', data)[1]}${node('endEvent', 'out')}${flows('in>s s>out')}`,
      ),
    ];
    const caught: [string, string] = [
      'wait',
      `<bpmn:boundaryEvent id="b" attachedToRef="sub"><bpmn:errorEventDefinition/></bpmn:boundaryEvent>${flows('b>wait')}${waiting('order')[1]}`,
    ];
    expect(await warned(null, [sub({ order: 1 }), waiting('order')])).toEqual([]);
    expect(await warned(null, [sub({ order: '${x}' }), waiting('order')])).toEqual(['wait: order']);
    expect(await warned(null, [sub({ order: 1 }), caught])).toEqual(['wait: order']);
  });

  it('are followed around a loop that goes one member deeper with each lap', async () => {
    const again: [string, string] = ['again', node('exclusiveGateway', 'again')];
    // Behind the start by name: its way is looked at first.
    const turn = saving('turn', { current: '${current.next}' });
    const loop: [string, string][] = [again, turn, ['again', ''], waiting('current.id')];
    expect(await warned(null, loop)).toEqual(['wait: current.id']);
  });

  it('are none where callers cannot choose them, or permissions say who starts', async () => {
    expect(await warned(null, [waiting('processInstanceId')])).toEqual([]);
    expect(await warned(null, [waiting('')])).toEqual([]);
    expect(await warned(NAMED, [saving('save', { made: 1 }), waiting('made')])).toEqual([]);
    expect(await warned(null, [saving('save', { made: 1 }), waiting('made')])).toEqual([]);
    expect(await warned(null, [waiting('order')], 'svc:start="clerk"')).toEqual([]);
    expect(await warned(null, [waiting('order')], '', { startPermission: true })).toEqual([]);
  });
});
