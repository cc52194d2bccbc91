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

/** Returns `element: code: suggestion` of each problem of a package. All must be warnings. */
async function problemsOf(parts: Record<string, unknown>): Promise<string[]> {
  const { package: pkg, problems: shape } = service.parse(packageDocument(parts));
  expect(shape).toEqual([]);
  const { checked, problems } = await service.check(pkg!, { appId: 'loans', libraries: [] });
  expect(checked).not.toBeNull();
  return problems.map(({ element, code, message }) => {
    const suggestion = /Did you mean "(.+)"\?/.exec(message)?.[1];
    return `${element}: ${code}${suggestion === undefined ? '' : `: ${suggestion}`}`;
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

/** Returns a process with a start event, these elements in sequence, and an end event. */
function processOf(name: string, schema: object | null, elements: [string, string][], more = ''): object {
  const path = ['start', ...elements.map(([id]) => id), 'end'];
  const text = path.slice(1).map((id, index) => `${path[index]}>${id}`);
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
    ['a member that is not in the input schema', { x: '${clinet.name}' }, ['a: NAME_UNKNOWN: client.name']],
    [
      'a nested member that is not in the input schema',
      { x: '${client.nam}' },
      ['a: NAME_UNKNOWN: client.name'],
    ],
    ['an unknown name without a similar one', { x: '${weather}' }, ['a: NAME_UNKNOWN']],
    ['an unknown name in an expression', { x: '${amuont * 2}' }, ['a: NAME_UNKNOWN: amount']],
    ['a member that the schema allows but does not name', { x: '${client.address.city}' }, []],
    ['all data by its alias', { x: '${input.amount}', y: '${input}' }, []],
    ['a predefined name', { x: '${processInstanceId} ${parentProcessInstanceId}' }, []],
    ['an unknown name after the alias', { x: '${input.amuont}' }, ['a: NAME_UNKNOWN: amount']],
  ])('are checked: %s', async (_what, data, expected) => {
    expect(await problemsOf({ processes: [processOf('p', INPUT, [saving('a', data)])] })).toEqual(expected);
  });

  it('include the paths of searchable data', async () => {
    const lines = { lines: { type: 'array', items: { type: 'object', properties: { price: {} } } } };
    const input = { ...INPUT, properties: { ...INPUT.properties, ...lines } };
    const { file, bpmn } = processOf('p', input, [saving('s', { saved: 1 })]) as {
      file: string;
      bpmn: string;
    };
    const searched = (paths: string) =>
      problemsOf({
        processes: [{ file, bpmn: bpmn.replace('name="p"', `name="p" svc:searchable="${paths}"`) }],
      });
    expect(await searched('client.name, saved, client.address.city, lines[0].price')).toEqual([]);
    expect(await searched('processInstanceId')).toEqual(['P_p: NAME_UNKNOWN']);
    expect(await searched('clinet.name')).toEqual(['P_p: NAME_UNKNOWN: client.name']);
    expect(await searched('lines[0].prise')).toEqual(['P_p: NAME_UNKNOWN: lines.price']);
  });

  it('may come from saved data, submitted data and results', async () => {
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
      expect(await problemsOf({ processes: reads(`\${${known}}`), workflows })).toEqual([]);
    }
    expect(await problemsOf({ processes: reads('${decision.oks}'), workflows })).toEqual([
      'a: NAME_UNKNOWN: decision.ok',
    ]);
    expect(await problemsOf({ processes: reads('${ratings}'), workflows })).toEqual([
      'a: NAME_UNKNOWN: rating',
    ]);
  });

  it('of the result of a workflow are checked against its outputSchema', async () => {
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
      problemsOf({
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

  it('are checked in conditions, and the problem names the sequence flow', async () => {
    const content = [
      schemaOf(INPUT),
      node('startEvent', 'start'),
      node('exclusiveGateway', 'g'),
      node('endEvent', 'x'),
      node('endEvent', 'y'),
      flows('start>g g>x[amount > 1] g>y[has(clinet.name)]'),
    ];
    const processes = [{ file: 'processes/p.bpmn', bpmn: processFile('p', content.join('\n')) }];
    expect(await problemsOf({ processes })).toEqual(['g_y: NAME_UNKNOWN: client.name']);
  });

  it('are reported only if they resemble a known name, if the process accepts any data', async () => {
    const body = { type: 'object', properties: { approval: {} } };
    const reads = (text: string) => [
      processOf('p', null, [asking('u', body, 'approval'), saving('a', { x: text })]),
    ];
    expect(await problemsOf({ processes: reads('${anything.at.all}') })).toEqual([]);
    expect(await problemsOf({ processes: reads('${aproval}') })).toEqual(['a: NAME_UNKNOWN: approval']);
  });

  it('are not checked in a process that another one calls, because the caller passes data', async () => {
    const called = processOf('called', INPUT, [saving('a', { x: '${weather}' })]);
    const caller = processOf('caller', INPUT, [
      ['call', node('callActivity', 'call', '', 'calledElement="called"')],
    ]);
    expect(await problemsOf({ processes: [called] })).toEqual(['a: NAME_UNKNOWN']);
    expect(await problemsOf({ processes: [called, caller] })).toEqual([]);
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
    ['an unknown name of the input', '${clinet.name}', INPUT, ['map: NAME_UNKNOWN: client.name']],
    ['known names of the input', '${client.name} ${input.amount}', INPUT, []],
    ['a name that a node has stored', '${map.anything}', INPUT, []],
    [
      'an unknown name of an answer',
      '${found.answer.scoer}',
      INPUT,
      ['map: NAME_UNKNOWN: found.answer.score'],
    ],
    [
      'an unknown name of an answer, without an input schema',
      '${found.answer.scoer}',
      null,
      ['map: NAME_UNKNOWN: found.answer.score'],
    ],
    ['an unknown name, without an input schema', '${clinet.name}', null, []],
  ])('are checked: %s', async (_what, reads, schema, expected) => {
    const problems = await problemsOf(flow(reads, schema, [agent]));
    expect(problems.filter((problem) => problem.includes('NAME_UNKNOWN'))).toEqual(expected);
  });

  it.each<[string, object | null, string[]]>([
    ['${answer.data.cents} ${answer.status} ${answer.headers.etag}', INPUT, []],
    ['${answer.body.cents}', INPUT, ['map: NAME_UNKNOWN']],
    ['${answer.body.cents}', null, ['map: NAME_UNKNOWN']],
    ['${answer.dta.cents}', null, ['map: NAME_UNKNOWN: answer.data.cents']],
    ['${answer.headers.cookie}', INPUT, ['map: NAME_UNKNOWN']],
  ])('are checked in the answer of an endpoint: %s', async (reads, schema, expected) => {
    const payload = { system: { resourceName: 'prices' }, method: 'GET' };
    const call = { id: 'call', type: 'REST_ENDPOINT', payload, responseKey: 'answer' };
    const system = {
      resourceName: 'prices',
      name: 'Prices',
      type: 'REST',
      baseUrl: 'https://prices.example.com',
      authorization: { type: 'NO_AUTH' },
    };
    const problems = await problemsOf({ ...flow(reads, schema, [call]), systems: [system] });
    expect(problems.filter((problem) => problem.includes('NAME_UNKNOWN'))).toEqual(expected);
  });

  it('are not checked after a mapping that may store any name', async () => {
    const merging = mapping('merge', { weather: 1 }, null);
    expect(await problemsOf(flow('${weather}', INPUT, [merging]))).toEqual([]);
    expect(await problemsOf(flow('${weather}', INPUT))).toEqual(['map: NAME_UNKNOWN']);
  });
});

describe('input of a workflow', () => {
  const called = workflowOf('rate', [], { inputSchema: { ...INPUT, required: ['amount'] } });
  const started = (input: object) => {
    const inner = `<svc:input>${JSON.stringify(input)}</svc:input>`;
    const task = serviceTask('a', [{ name: 'run', kind: 'startWorkflow', workflow: 'rate', inner }]);
    return problemsOf({ processes: [processOf('p', null, [['a', task]])], workflows: [called] });
  };

  it('from an action of a process is checked against the input schema', async () => {
    expect(await started({ amount: 7, client: '${c}' })).toEqual([]);
    expect(await started({ amuont: 7 })).toEqual(['a: INPUT_UNKNOWN: amount', 'a: INPUT_MISSING']);
  });

  it('from a node is checked if its members are known', async () => {
    const calls = (inputBody: unknown) => {
      const sub = { ...calling('sub', 'rate'), inputBody };
      return problemsOf({ workflows: [workflowOf('flow', [sub]), called] });
    };
    expect(await calls({ client: {} })).toEqual(['sub: INPUT_MISSING']);
    expect(await calls('{"amuont": ${x}}')).toEqual([]);
    expect(await calls({ amount: 1 })).toEqual([]);
  });

  it('is checked only up to a fixed amount of work for all calls of a package', async () => {
    const required = Array.from({ length: 7_000 }, (_, index) => `m${index}`);
    const hungry = workflowOf('hungry', [], { inputSchema: { type: 'object', required } });
    const calls = Array.from({ length: 400 }, (_, index) =>
      calling(`call${index}`, 'hungry', undefined, { inputBody: { m1: 1 } }),
    );
    const problems = await problemsOf({ workflows: [workflowOf('flow', calls), hungry] });
    // Each call has five problems. Without the limit on work, 500 would be reported, the maximum per package.
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
    return problemsOf({
      processes: [{ file: 'processes/p.bpmn', bpmn: processFile('p', content, { outside }) }],
    });
  };

  it('are reported if nothing in the package throws them', async () => {
    expect(await caught('REJECTED')).toEqual([]);
    expect(await caught('REST_STATUS')).toEqual([]);
    expect(await caught('REJECTD')).toEqual(['b: BOUNDARY_NEVER_FIRES: REJECTED']);
  });

  it('are reported even if they resemble codes of technical failures', async () => {
    expect(await caught('REST_STATSU')).toEqual(['b: BOUNDARY_NEVER_FIRES: REST_STATUS']);
    expect(await caught('NODE_OF_OURS')).toEqual(['b: BOUNDARY_NEVER_FIRES']);
  });

  it('may be the codes of technical failures listed in the documentation', async () => {
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

  it('cause a warning if they come from the body of a start that is open to everyone', async () => {
    expect(await warned(null, [waiting('order')])).toEqual(['wait: order']);
    expect(await warned(NAMED, [waiting('order')])).toEqual(['wait: order']);
    expect(await warned(null, [sending("'x' + order.id")])).toEqual(['send: order.id']);
    expect(await warned(NAMED, [saving('save', { order: 1 }), waiting('order')])).toEqual(['wait: order']);
  });

  it.each<[string, object | null, [string, string][], string[]]>([
    ['a copy', null, [saving('s', { made: '${order}' }), waiting('made')], ['wait: made']],
    [
      'a copy of a member in the schema',
      NAMED,
      [saving('s', { made: 'x-${order}' }), waiting('made')],
      ['wait: made'],
    ],
    ['a part of a copy', null, [saving('s', { all: '${input}' }), waiting('all.order')], ['wait: all.order']],
    [
      'a member that is computed from itself',
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
    [
      'a member that is written only later',
      null,
      [waiting('order'), saving('s', { order: 1 })],
      ['wait: order'],
    ],
    [
      'a member that is overwritten with data of the start',
      null,
      [saving('s', { a: 1 }), saving('t', { a: '${b}' }), waiting('a')],
      ['wait: a'],
    ],
    ['another member', null, [saving('s', { o: { a: 1 } }), waiting('o.b')], ['wait: o.b']],
    [
      'a member that remains after a merge without it',
      NAMED,
      [saving('s', { order: '${lookup}' }), waiting('order.id')],
      ['wait: order.id'],
    ],
    [
      'an enclosing object',
      null,
      [saving('s', { o: { a: 1 } }), saving('t', { b: 'x-${o}' }), waiting('b')],
      ['wait: b'],
    ],
    [
      'a member that the keys exclude',
      null,
      [saving('s', { a: 1, b: 1 }, 'a, o.id'), waiting('b')],
      ['wait: b'],
    ],
    [
      'members that the keys include',
      null,
      [saving('s', { a: 1, o: { id: 1 } }, 'a, o.id'), waiting('a + o.id')],
      [],
    ],
    ['members in a cycle', null, [saving('s', { a: '${b}', b: '${a}' }), waiting('a')], ['wait: a']],
    ['a copy of a predefined value', null, [saving('s', { a: 'x-${processInstanceId}' }), waiting('a')], []],
    [
      'a copy of a member that was written before',
      null,
      [saving('s', { order: 1 }), saving('t', { a: '${order}' }), waiting('a')],
      [],
    ],
    [
      'a constant part of an object',
      null,
      [saving('s', { o: { a: 1 } }), saving('t', { a: '${o.a}' }), waiting('a')],
      [],
    ],
  ])('are checked if they read %s', async (_what, schema, elements, expected) => {
    expect(await warned(schema, elements)).toEqual(expected);
  });

  it('are traced through subprocesses and boundary events', async () => {
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

  it('are traced through a loop that reads one level deeper in each iteration', async () => {
    const again: [string, string] = ['again', node('exclusiveGateway', 'again')];
    // Its id sorts after "start", so this path is traced first.
    const turn = saving('turn', { current: '${current.next}' });
    const loop: [string, string][] = [again, turn, ['again', ''], waiting('current.id')];
    expect(await warned(null, loop)).toEqual(['wait: current.id']);
  });

  it('cause no warning if callers cannot choose them, or if starting requires a permission', async () => {
    expect(await warned(null, [waiting('processInstanceId')])).toEqual([]);
    expect(await warned(null, [waiting('')])).toEqual([]);
    expect(await warned(NAMED, [saving('save', { made: 1 }), waiting('made')])).toEqual([]);
    expect(await warned(null, [saving('save', { made: 1 }), waiting('made')])).toEqual([]);
    expect(await warned(null, [waiting('order')], 'svc:start="clerk"')).toEqual([]);
    expect(await warned(null, [waiting('order')], '', { startPermission: true })).toEqual([]);
  });
});
