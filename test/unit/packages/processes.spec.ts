import { describe, expect, it } from 'vitest';
import type { CheckContext, LibraryBuild } from '../../../src/delivery/packages/model/package.types.js';
import { PackagesService, withDefinitionIds } from '../../../src/delivery/packages/packages.service.js';
import { ProcessCompiler } from '#engine/definitions';
import { application, node, packageDocument, settings, system, workflow } from './package-fixture.js';

const compiler = new ProcessCompiler();
const service = new PackagesService(settings());

/** Returns a process with one element between start and end. `starts` are the start conditions of its start events. */
function bpmn(
  id: string,
  middle = '<bpmn:userTask id="middle" />',
  starts: (string | null)[] = [null],
): string {
  const events = starts.map((condition, index) => {
    const attribute = condition === null ? '' : ` svc:startCondition="${condition}"`;
    return `<bpmn:startEvent id="s${index}"${attribute} /><bpmn:sequenceFlow id="f${index}" sourceRef="s${index}" targetRef="middle" />`;
  });
  return `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:svc="urn:svc:bpmn:1" targetNamespace="urn:test">
    <bpmn:process id="${id}" isExecutable="true">${events.join('')}${middle}
      <bpmn:endEvent id="end" /><bpmn:sequenceFlow id="last" sourceRef="middle" targetRef="end" />
    </bpmn:process></bpmn:definitions>`;
}

const call = (called: string, attributes = '') =>
  `<bpmn:callActivity id="middle" calledElement="${called}" ${attributes} />`;
const action = (attributes: string) =>
  `<bpmn:serviceTask id="middle"><bpmn:extensionElements><svc:actions><svc:action name="a" ${attributes} /></svc:actions></bpmn:extensionElements></bpmn:serviceTask>`;
const file = (name: string, text: string) => ({ file: `processes/${name}.bpmn`, bpmn: text });

async function library(): Promise<LibraryBuild> {
  const { definitions } = await compiler.compile(
    { name: 'l', xml: bpmn('check', undefined, ['a', 'b']) },
    { appId: 'scoring' },
  );
  return {
    appId: 'scoring',
    buildId: 'b1',
    processes: definitions,
    workflows: [{ name: 'score', resourceDefinitionId: 'wd' }],
    systems: [],
  };
}

async function problemsOf(
  processes: ReturnType<typeof file>[],
  context: Partial<CheckContext> = {},
  parts: Record<string, unknown> = {},
): Promise<string[]> {
  const { package: pkg, problems: shape } = service.parse(packageDocument({ processes, ...parts }));
  expect(shape).toEqual([]);
  const { checked, problems } = await service.check(pkg!, { appId: 'loans', libraries: [], ...context });
  expect(checked === null).toBe(problems.some(({ severity }) => severity === 'error'));
  return problems.map((problem) => `${problem.file}: ${problem.element}: ${problem.code}`);
}

const USES_LIBRARY = { application: application({ libraries: [{ appId: 'scoring', buildId: 'b1' }] }) };

describe('a package with an invalid structure', () => {
  /** Returns `file: element: code` of each problem found in the readable parts. */
  const otherProblems = async (parts: Record<string, unknown>): Promise<string[]> => {
    const { package: pkg, readable } = service.parse(packageDocument(parts));
    expect(pkg).toBeNull();
    const problems = await service.checkParts(readable, 'loans');
    return problems.map((problem) => `${problem.file}: ${problem.element}: ${problem.code}`);
  };
  const starting = (...names: string[]) =>
    names.map((name) => file(name, bpmn(name, action(`kind="startWorkflow" workflow="${name}"`))));
  const calling = (id: string, name: string, appId?: string) =>
    node(id, 'SUBWORKFLOW', ['end'], {
      responseKey: id,
      payload: { workflow: { resourceName: name, ...(appId === undefined ? {} : { appId }) } },
    });
  const flow = (name: string, called: string, appId?: string) =>
    workflow([node('start', 'START', ['x']), calling('x', called, appId)], { name });

  it('reports broken references, except to parts that could not be read', async () => {
    const workflows = [{ name: 'wrong', nodes: 7 }, flow('good', 'gone'), flow('fine', 'wrong')];
    expect(await otherProblems({ workflows, processes: starting('good', 'wrong', 'missing') })).toEqual([
      'workflows/good.json: x: WORKFLOW_NOT_FOUND',
      'processes/missing.bpmn: middle: WORKFLOW_NOT_FOUND',
    ]);
  });

  it('does not check references to a list whose names are unknown', async () => {
    expect(await otherProblems({ workflows: [{ nodes: [] }, flow('good', 'gone')] })).toEqual([]);
    expect(await otherProblems({ workflows: 'none', processes: starting('good') })).toEqual([]);
  });

  it('does not check references to libraries, or to systems that the version may have', async () => {
    const tools = { mcpServers: [{ resourceName: 'gone' }], aiType: 'CUSTOM_AGENT', operationPrompt: 'Ask.' };
    const aiOptions = { ...tools, exampleOutputJsonSchema: { type: 'object' } };
    const agent = node('x', 'CUSTOM_AGENT', ['end'], { aiOptions, responseKey: 'x' });
    const workflows = [
      flow('good', 'score', 'scoring'),
      workflow([node('start', 'START', ['x']), agent], { name: 'asks' }),
    ];
    expect(await otherProblems({ systems: [{ resourceName: 'wrong' }], workflows })).toEqual([]);
  });

  it('reports broken calls of processes, unless a BPMN file could not be read', async () => {
    const processes = [file('one', bpmn('one', call('gone')))];
    expect(await otherProblems({ systems: [{}], processes })).toEqual([
      'processes/one.bpmn: middle: PROCESS_NOT_FOUND',
    ]);
    expect(await otherProblems({ processes: [...processes, { file: 'processes/two.bpmn' }] })).toEqual([]);
  });
});

describe('processes of a package', () => {
  it('have display names, which may contain line breaks', async () => {
    const named = (name: string) => [
      file('loan', bpmn('loan', `<bpmn:userTask id="middle" name="${name}" />`)),
    ];
    const refused = 'processes/loan.bpmn: middle: DISPLAY_NAME_INVALID';
    expect(await problemsOf(named('De\u202ead'))).toEqual([refused]);
    expect(await problemsOf(named('a\u200bb'))).toEqual([refused]);
    expect(await problemsOf(named('Check&#10;the order'))).toEqual([]);
  });

  it('are compiled, and their text is kept', async () => {
    const text = bpmn('loan');
    const { package: pkg } = service.parse(packageDocument({ processes: [file('loan', text)] }));
    const { checked } = await service.check(pkg!, { appId: 'loans', libraries: [] });
    expect(checked?.processes).toMatchObject([
      { file: 'processes/loan.bpmn', bpmn: text, graphs: [{ name: 'loan' }] },
    ]);
  });

  it('report the problems of their files', async () => {
    expect(await problemsOf([file('a', '<no-bpmn />'), file('b', bpmn('b'))])).toEqual([
      expect.stringMatching(/^processes\/a\.bpmn: /) as string,
    ]);
  });

  it('are named in problems as in a modeler, with the line and a suggestion', async () => {
    const caller = bpmn(
      'one',
      '\n<bpmn:callActivity id="middle" name="Check &lt;it&gt;"\n calledElement="tvo" />',
    );
    const { package: pkg } = service.parse(
      packageDocument({ processes: [file('a', caller), file('b', bpmn('two'))] }),
    );
    const { problems } = await service.check(pkg!, { appId: 'loans', libraries: [] });
    expect(problems).toEqual([
      {
        severity: 'error',
        code: 'PROCESS_NOT_FOUND',
        file: 'processes/a.bpmn',
        element: 'middle',
        elementName: 'Check <it>',
        line: 3,
        message: 'There is no process "tvo" in this package. Did you mean "two"?',
      },
    ]);
  });

  it('must have unique names, ignoring case, and separate files', async () => {
    expect(await problemsOf([file('a', bpmn('loan')), file('b', bpmn('LOAN'))])).toEqual([
      'processes/b.bpmn: LOAN: PROCESS_NAME_NOT_UNIQUE',
    ]);
    expect(await problemsOf([file('a', bpmn('one')), file('a', bpmn('two'))])).toEqual([
      'processes/a.bpmn: null: FILE_NOT_UNIQUE',
    ]);
  });

  it('may call each other, regardless of the order of their files', async () => {
    expect(
      await problemsOf([file('a', bpmn('one', call('two'))), file('b', bpmn('two', call('one')))]),
    ).toEqual([]);
  });

  it.each([
    ['a process that does not exist', call('gone'), 'PROCESS_NOT_FOUND'],
    [
      'a process of an application that is not a library',
      call('check', 'svc:appId="other"'),
      'PROCESS_NOT_FOUND',
    ],
    [
      'a start condition that does not exist',
      call('two', 'svc:startCondition="x"'),
      'START_CONDITION_NOT_FOUND',
    ],
    ['a process with several start conditions without naming one', call('many'), 'START_CONDITION_MISSING'],
    ['a process that only a message can start', call('message'), 'START_NOT_FOUND'],
    [
      'a subprocess that does not exist',
      action('kind="startSubprocess" process="gone"'),
      'PROCESS_NOT_FOUND',
    ],
    ['a process by a name in different case', call('TWO'), 'PROCESS_NOT_FOUND'],
    ['a workflow that does not exist', action('kind="startWorkflow" workflow="gone"'), 'WORKFLOW_NOT_FOUND'],
    [
      'a workflow by a name in different case',
      action('kind="startWorkflow" workflow="RATE"'),
      'WORKFLOW_NOT_FOUND',
    ],
  ])('cannot start %s', async (_what, middle, code) => {
    const message = bpmn('message')
      .replace(
        '<bpmn:startEvent id="s0" />',
        '<bpmn:startEvent id="s0"><bpmn:messageEventDefinition messageRef="m" /></bpmn:startEvent>',
      )
      .replace('<bpmn:process', '<bpmn:message id="m" name="m" svc:correlation="" /><bpmn:process');
    expect(
      await problemsOf(
        [
          file('one', bpmn('one', middle)),
          file('two', bpmn('two')),
          file('many', bpmn('many', undefined, ['a', 'b'])),
          file('message', message),
        ],
        {},
        { workflows: [workflow()] },
      ),
    ).toEqual([`processes/one.bpmn: middle: ${code}`]);
  });

  it('must have only one start event per message in the package', async () => {
    const started = (id: string, ...messages: string[]) =>
      messages.reduce(
        (xml, name, index) =>
          xml
            .replace(
              `<bpmn:startEvent id="s${index}" />`,
              `<bpmn:startEvent id="s${index}"><bpmn:messageEventDefinition messageRef="m${index}" /></bpmn:startEvent>`,
            )
            .replace(
              '<bpmn:process',
              `<bpmn:message id="m${index}" name="${name}" svc:correlation="" /><bpmn:process`,
            ),
        bpmn(
          id,
          undefined,
          messages.map(() => null),
        ),
      );
    expect(await problemsOf([file('a', started('a', 'paid', 'sent', 'paid'))])).toEqual([
      'processes/a.bpmn: s2: MESSAGE_STARTS_TWICE',
    ]);
    expect(
      await problemsOf([file('a', started('a', 'paid')), file('b', started('b', 'Paid', 'paid'))]),
    ).toEqual(['processes/b.bpmn: s1: MESSAGE_STARTS_TWICE']);
  });

  it('are checked for references and can be referred to even if they do not compile', async () => {
    const files = [
      file(
        'a',
        bpmn('a', call('gone')).replace('<bpmn:endEvent', '<bpmn:scriptTask id="q" /><bpmn:endEvent'),
      ),
      file('b', bpmn('b', call('a'))),
      file('c', bpmn('c', call(''))),
    ];
    expect((await problemsOf(files)).toSorted((one, other) => one.localeCompare(other))).toEqual([
      'processes/a.bpmn: middle: PROCESS_NOT_FOUND',
      'processes/a.bpmn: q: UNSUPPORTED_ELEMENT',
      'processes/c.bpmn: middle: MISSING_VALUE',
    ]);
  });

  it('may start existing processes and workflows', async () => {
    const workflows = [workflow()];
    const files = [
      file('a', bpmn('a', call('many', 'svc:startCondition="b"'))),
      file('b', bpmn('b', action('kind="startWorkflow" workflow="rate"'))),
      file('c', bpmn('c', action('kind="startSubprocess" process="a"'))),
      file('many', bpmn('many', undefined, ['a', 'b'])),
    ];
    expect(await problemsOf(files, {}, { workflows })).toEqual([]);
  });

  it('may start processes and workflows of a library that the package names', async () => {
    const files = [
      file('a', bpmn('a', call('check', 'svc:appId="scoring" svc:startCondition="a"'))),
      file('b', bpmn('b', action('kind="startWorkflow" workflow="score" appId="scoring"'))),
    ];
    const libraries = [await library()];
    expect(await problemsOf(files, { libraries }, USES_LIBRARY)).toEqual([]);
    expect(await problemsOf(files, { libraries })).toEqual([
      'processes/a.bpmn: middle: PROCESS_NOT_FOUND',
      'processes/b.bpmn: middle: WORKFLOW_NOT_FOUND',
    ]);
    const wrong = [file('a', bpmn('a', call('check', 'svc:appId="scoring"')))];
    expect(await problemsOf(wrong, { libraries }, USES_LIBRARY)).toEqual([
      'processes/a.bpmn: middle: START_CONDITION_MISSING',
    ]);
  });
});

describe('withDefinitionIds', () => {
  it('fills in the definition ids of systems and workflows of the same package', async () => {
    const nodes = [
      node('start', 'START', ['agent']),
      node('agent', 'CUSTOM_AGENT', ['rest'], {
        responseKey: 'a',
        aiOptions: {
          aiType: 'CUSTOM_AGENT',
          operationPrompt: 'p',
          exampleOutputJsonSchema: {},
          mcpServers: [{ resourceName: 'core_tools' }],
        },
      }),
      node('rest', 'REST_ENDPOINT', ['sub'], {
        responseKey: 'r',
        payload: { system: { resourceName: 'rest' }, method: 'GET' },
      }),
      node('sub', 'SUBWORKFLOW', ['end'], {
        responseKey: 's',
        payload: { workflow: { resourceName: 'other' } },
      }),
    ];
    const { package: pkg } = service.parse(
      packageDocument({
        systems: [system(), system({ resourceName: 'rest', type: 'REST' })],
        workflows: [workflow(nodes), workflow(undefined, { name: 'Other' })],
      }),
    );
    const { checked } = await service.check(pkg!, { appId: 'loans', libraries: [] });
    const ids = {
      systems: new Map([
        ['core_tools', 'S1'],
        ['rest', 'S2'],
      ]),
      workflows: new Map([['other', 'W1']]),
    };
    const [, agent, rest, sub] = withDefinitionIds(checked!.workflows[0]!, 'loans', ids).nodes;
    expect(agent?.aiOptions?.mcpServers).toEqual([
      { appId: 'loans', resourceName: 'core_tools', resourceDefinitionId: 'S1' },
    ]);
    expect(rest?.payload).toMatchObject({ system: { resourceDefinitionId: 'S2' } });
    expect(sub).toMatchObject({
      subWorkflowResourceDefinitionId: 'W1',
      payload: { workflow: { resourceName: 'Other', resourceDefinitionId: 'W1' } },
    });
  });
});

it('a BPMN file may start with a byte order mark', async () => {
  expect(await problemsOf([file('a', `\uFEFF<?xml version="1.0" encoding="UTF-8"?>${bpmn('a')}`)])).toEqual(
    [],
  );
});
