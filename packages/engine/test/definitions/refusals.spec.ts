import { describe, expect, it } from 'vitest';
import { bpmn, compileXml, definitions, errorsOf, flows, nodes } from './compile.js';

const START_END = nodes('startEvent:s endEvent:z');
const SIMPLE = START_END + nodes('userTask:a') + flows('s>a a>z');
const timer = (property: string, text: string) =>
  `<bpmn:timerEventDefinition><bpmn:${property} xsi:type="bpmn:tFormalExpression">${text}</bpmn:${property}></bpmn:timerEventDefinition>`;
const withCatch = (content: string) =>
  bpmn(
    `${START_END}<bpmn:intermediateCatchEvent id="c">${content}</bpmn:intermediateCatchEvent>${flows('s>c c>z')}`,
  );
const withTask = (element: string, outside = '') => bpmn(START_END + element + flows('s>a a>z'), { outside });

const withLists = (out: string, into: string) =>
  bpmn(
    `<bpmn:startEvent id="s">${out}</bpmn:startEvent><bpmn:endEvent id="z">${into}</bpmn:endEvent>${flows('s>z')}`,
  );
const eventGateway = (targets: string, ways: string) =>
  bpmn(START_END + nodes('eventBasedGateway:g') + targets + flows(`s>g ${ways}`), {
    outside: '<bpmn:message id="m" svc:correlation=""/>',
  });
const startWith = (content: string) =>
  bpmn(`<bpmn:startEvent id="s">${content}</bpmn:startEvent>${nodes('endEvent:z')}${flows('s>z')}`);
const boundaryOn = (host: string) =>
  `<bpmn:boundaryEvent id="b" ${host}><bpmn:errorEventDefinition/></bpmn:boundaryEvent>`;
const callWith = (loop: string) =>
  withTask(`<bpmn:callActivity id="a" calledElement="q">${loop}</bpmn:callActivity>`);
const withLanes = (content: string) => bpmn(`<bpmn:laneSet id="ls">${content}</bpmn:laneSet>${SIMPLE}`);
const laneOf = (id: string, ref: string) =>
  `<bpmn:lane id="${id}"><bpmn:flowNodeRef>${ref}</bpmn:flowNodeRef></bpmn:lane>`;

describe('rejects unsupported elements by name and id', () => {
  it.each([
    ['scriptTask "a"', '<bpmn:scriptTask id="a"/>'],
    ['businessRuleTask "a"', '<bpmn:businessRuleTask id="a"/>'],
    ['complexGateway "a"', '<bpmn:complexGateway id="a"/>'],
    ['transaction "a"', '<bpmn:transaction id="a"/>'],
    ['adHocSubProcess "a"', '<bpmn:adHocSubProcess id="a"/>'],
    ['eventSubProcess "a"', '<bpmn:subProcess id="a" triggeredByEvent="true"/>'],
    ['startQuantity "a"', '<bpmn:task id="a" startQuantity="2"/>'],
    ['completionQuantity "a"', '<bpmn:task id="a" completionQuantity="0"/>'],
    ['isForCompensation "a"', '<bpmn:task id="a" isForCompensation="true"/>'],
    ['standardLoopCharacteristics', '<bpmn:task id="a"><bpmn:standardLoopCharacteristics/></bpmn:task>'],
    [
      'multiInstanceLoopCharacteristics of userTask',
      '<bpmn:userTask id="a"><bpmn:multiInstanceLoopCharacteristics svc:collection="x"/></bpmn:userTask>',
    ],
    [
      'loopCardinality',
      '<bpmn:callActivity id="a" calledElement="q"><bpmn:multiInstanceLoopCharacteristics svc:collection="x"><bpmn:loopCardinality>3</bpmn:loopCardinality></bpmn:multiInstanceLoopCharacteristics></bpmn:callActivity>',
    ],
    [
      'completionCondition',
      '<bpmn:callActivity id="a" calledElement="q"><bpmn:multiInstanceLoopCharacteristics svc:collection="x"><bpmn:completionCondition>true</bpmn:completionCondition></bpmn:multiInstanceLoopCharacteristics></bpmn:callActivity>',
    ],
    ['instantiate "a"', '<bpmn:receiveTask id="a" instantiate="true"/>'],
    [
      'ioSpecification',
      '<bpmn:task id="a"><bpmn:ioSpecification><bpmn:inputSet/><bpmn:outputSet/></bpmn:ioSpecification></bpmn:task>',
    ],
    ['potentialOwner', '<bpmn:userTask id="a"><bpmn:potentialOwner/></bpmn:userTask>'],
    [
      'signalEventDefinition "q"',
      '<bpmn:intermediateCatchEvent id="a"><bpmn:signalEventDefinition id="q"/></bpmn:intermediateCatchEvent>',
    ],
    [
      'conditionalEventDefinition "q"',
      '<bpmn:intermediateCatchEvent id="a"><bpmn:conditionalEventDefinition id="q"><bpmn:condition>x</bpmn:condition></bpmn:conditionalEventDefinition></bpmn:intermediateCatchEvent>',
    ],
    [
      'linkEventDefinition "q"',
      '<bpmn:intermediateCatchEvent id="a"><bpmn:linkEventDefinition id="q" name="x"/></bpmn:intermediateCatchEvent>',
    ],
    [
      'escalationEventDefinition "q"',
      '<bpmn:intermediateThrowEvent id="a"><bpmn:escalationEventDefinition id="q"/></bpmn:intermediateThrowEvent>',
    ],
    [
      'compensateEventDefinition "q"',
      '<bpmn:intermediateThrowEvent id="a"><bpmn:compensateEventDefinition id="q"/></bpmn:intermediateThrowEvent>',
    ],
    [
      'timeCycle of intermediateCatchEvent',
      `<bpmn:intermediateCatchEvent id="a">${timer('timeCycle', 'R3/PT1H')}</bpmn:intermediateCatchEvent>`,
    ],
    [
      'parallelMultiple "a"',
      `<bpmn:intermediateCatchEvent id="a" parallelMultiple="true">${timer('timeDuration', 'PT1H')}</bpmn:intermediateCatchEvent>`,
    ],
  ])('%s', async (name, element) => {
    const { definitions: found, problems } = await compileXml(withTask(element));
    expect(found).toEqual([]);
    const refused = problems.filter(({ code }) => code === 'UNSUPPORTED_ELEMENT');
    expect(refused.map(({ message }) => message)).toEqual([expect.stringContaining(name)]);
    expect(['a', 'q']).toContain(refused[0]?.element);
  });

  it.each([
    [
      'timeCycle of boundaryEvent',
      `<bpmn:boundaryEvent id="b" attachedToRef="a">${timer('timeCycle', 'R3/PT1H')}</bpmn:boundaryEvent>${flows('b>z')}`,
    ],
  ])('%s', async (name, content) => {
    const { problems } = await compileXml(bpmn(SIMPLE + content));
    expect(problems).toMatchObject([{ code: 'UNSUPPORTED_ELEMENT', message: expect.stringContaining(name) }]);
  });

  it.each([
    ['globalScriptTask "q"', '<bpmn:globalScriptTask id="q"/>'],
    ['choreography "q"', '<bpmn:choreography id="q"/>'],
    ['globalConversation "q"', '<bpmn:globalConversation id="q"/>'],
    ['signal "q"', '<bpmn:signal id="q"/>'],
    ['import', '<bpmn:import namespace="x" location="y" importType="z"/>'],
    [
      'participant without process "q"',
      '<bpmn:collaboration id="c"><bpmn:participant id="q"/></bpmn:collaboration>',
    ],
    ['extension', '<bpmn:extension mustUnderstand="true" definition="x:y"/>'],
  ])('%s next to a process', async (name, outside) => {
    const { problems } = await compileXml(bpmn(SIMPLE, { outside }));
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(name)]);
  });

  it.each([
    [
      'what holds an element without id',
      withCatch('<bpmn:signalEventDefinition/>'),
      'signalEventDefinition of intermediateCatchEvent "c" is not executed here; use messages or gateways.',
    ],
    [
      'what to do about a pool that is a black box',
      bpmn(SIMPLE, { outside: '<bpmn:collaboration id="c"><bpmn:participant id="q"/></bpmn:collaboration>' }),
      'participant without process "q" is not executed here; give it a process with isExecutable="false", or remove the collaboration.',
    ],
    [
      'where an svc element belongs',
      withTask(
        '<bpmn:userTask id="a"><bpmn:extensionElements><svc:payload>1</svc:payload></bpmn:extensionElements></bpmn:userTask>',
      ),
      expect.stringMatching(/^svc:payload belongs in svc:action, not here \(line: \d+\)\.$/),
    ],
    [
      'where an svc element belongs that the reader accepts',
      withTask(
        '<bpmn:userTask id="a"><bpmn:extensionElements><svc:action/></bpmn:extensionElements></bpmn:userTask>',
      ),
      'svc:action may appear only once, in svc:actions.',
    ],
    [
      'that an element of ours does not exist',
      withTask(
        '<bpmn:userTask id="a"><bpmn:extensionElements><svc:nonsense/></bpmn:extensionElements></bpmn:userTask>',
      ),
      expect.stringMatching(/^There is no element svc:nonsense \(line: \d+\)\.$/),
    ],
  ])('reports %s', async (_what, xml, message) => {
    const { problems } = await compileXml(xml);
    expect(problems.map((problem) => problem.message)).toEqual([message]);
  });

  it('does not report follow-up problems of a refused element', async () => {
    const xml = bpmn(START_END + nodes('scriptTask:a task:b') + flows('s>a a>b b>z'));
    expect(await errorsOf(xml)).toEqual(['UNSUPPORTED_ELEMENT a']);
  });
});

describe('reports only the unresolved reference', () => {
  const listed = (kind: string, id: string, into: string, out: string, more = '') =>
    `<bpmn:${kind} id="${id}" ${more}>${into.replaceAll(/\S+/g, '<bpmn:incoming>$&</bpmn:incoming>')}${out.replaceAll(/\S+/g, '<bpmn:outgoing>$&</bpmn:outgoing>')}</bpmn:${kind}>`;
  const LISTED = bpmn(
    [
      listed('startEvent', 's', '', 's_first'),
      listed('userTask', 'first', 's_first', 'first_g'),
      listed('exclusiveGateway', 'g', 'first_g', 'g_second g_third', 'default="g_third"'),
      listed('userTask', 'second', 'g_second', 'second_j'),
      listed('userTask', 'third', 'g_third', 'third_j'),
      listed('exclusiveGateway', 'j', 'second_j third_j', 'j_z'),
      listed('endEvent', 'z', 'j_z', ''),
      flows('s>first first>g g>second[x] g>third second>j third>j j>z'),
    ].join('\n'),
  );

  it('in a file that otherwise has no errors', async () => {
    expect(await errorsOf(LISTED)).toEqual([]);
  });

  it.each([
    ['targetRef="first"', 'targetRef="frist"', 'UNRESOLVED_REFERENCE s_first'],
    ['targetRef="second"', 'targetRef="secund"', 'UNRESOLVED_REFERENCE g_second'],
    ['targetRef="third"', 'targetRef="thrid"', 'UNRESOLVED_REFERENCE g_third'],
    ['sourceRef="third"', 'sourceRef="thrid"', 'UNRESOLVED_REFERENCE third_j'],
    ['targetRef="z"', 'targetRef="g_third"', 'INVALID_REFERENCE j_z'],
    ['default="g_third"', 'default="g_thrid"', 'UNRESOLVED_REFERENCE g'],
  ])('%s as %s', async (before, after, expected) => {
    expect(await errorsOf(LISTED.replace(before, after))).toEqual([expected]);
  });

  it.each([
    [
      'the activity of a boundary event',
      bpmn(
        `${SIMPLE}${nodes('userTask:later')}<bpmn:boundaryEvent id="b" attachedToRef="aa">${timer('timeDuration', 'PT1H')}</bpmn:boundaryEvent>${flows('b>later later>z')}`,
      ),
      'UNRESOLVED_REFERENCE b',
    ],
    [
      'an event after a gateway',
      eventGateway(
        '<bpmn:receiveTask id="r" messageRef="m"/><bpmn:receiveTask id="q" messageRef="m"/>',
        'g>r g>q r>z q>z',
      ).replace('targetRef="q"', 'targetRef="p"'),
      'UNRESOLVED_REFERENCE g_q',
    ],
    [
      'the message of an event',
      withCatch('<bpmn:messageEventDefinition messageRef="gone"/>'),
      'UNRESOLVED_REFERENCE c',
    ],
    [
      'the message of a task',
      withTask('<bpmn:sendTask id="a" messageRef="gone"/>'),
      'UNRESOLVED_REFERENCE a',
    ],
    [
      'the error of an end event',
      bpmn(
        `${nodes('startEvent:s')}<bpmn:endEvent id="z"><bpmn:errorEventDefinition errorRef="gone"/></bpmn:endEvent>${flows('s>z')}`,
      ),
      'UNRESOLVED_REFERENCE z',
    ],
  ])('%s', async (_, xml, expected) => {
    const { problems } = await compileXml(xml);
    expect(problems.map(({ code, element }) => `${code} ${element}`)).toEqual([expected]);
  });

  it('suggests the closest node for a node reference', async () => {
    const xml = bpmn(
      `${SIMPLE}<bpmn:textAnnotation id="chekk"/>${nodes('task:check')}${flows('a>check check>z')}`,
    );
    const { problems } = await compileXml(xml.replace('targetRef="check"', 'targetRef="chek"'));
    expect(problems.map(({ message }) => message)).toContain(
      'targetRef names "chek", which is not in the file. Did you mean "check"?',
    );
  });
});

describe('reports only the XML mistake', () => {
  const written = (content: string) => bpmn(content.replaceAll('><bpmn:', '>\n<bpmn:'));
  const LISTED = written(
    `<bpmn:startEvent id="s"><bpmn:outgoing>s_a</bpmn:outgoing></bpmn:startEvent>
<bpmn:userTask id="a"><bpmn:incoming>s_a</bpmn:incoming><bpmn:outgoing>a_b</bpmn:outgoing></bpmn:userTask>
<bpmn:userTask id="b"><bpmn:incoming>a_b</bpmn:incoming><bpmn:outgoing>b_z</bpmn:outgoing></bpmn:userTask>
<bpmn:endEvent id="z"><bpmn:incoming>b_z</bpmn:incoming></bpmn:endEvent>${flows('s>a a>b b>z')}`,
  );

  it('in a file that otherwise has no problems', async () => {
    expect((await compileXml(LISTED)).problems).toEqual([]);
  });

  it.each([
    ['a quote that is missing', 'sourceRef="a" targetRef', 'sourceRef="a targetRef', 'UNPARSABLE_CONTENT'],
    ['a flow with the id of another', '"a_b" sourceRef', '"s_a" sourceRef', 'DUPLICATE_ID'],
    [
      'an element that BPMN has not',
      '<bpmn:startEvent id="s">',
      '<bpmn:strtEvent id="s">',
      'UNPARSABLE_CONTENT',
    ],
  ])('%s', async (_what, before, after, code) => {
    const xml = LISTED.replace(before, after).replace(
      after.includes('strt') ? '</bpmn:startEvent>' : '\0',
      '</bpmn:strtEvent>',
    );
    const { problems } = await compileXml(xml);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  it('and unrelated mistakes', async () => {
    const xml = LISTED.replace('sourceRef="a" targetRef', 'sourceRef="a targetRef').replace(
      'sourceRef="s"',
      'sourceRef="x"',
    );
    expect(await errorsOf(xml)).toEqual(['UNPARSABLE_CONTENT -', 'UNRESOLVED_REFERENCE s_a']);
  });

  it.each([
    ['<bpmn:userTask id="a">', '', 'Nothing opens </bpmn:userTask> (line 7)'],
    ['</bpmn:endEvent>', '</bpmn:endEvent></bpmn:task>', 'Nothing opens </bpmn:task> (line 12)'],
    [
      '</bpmn:endEvent>',
      '</bpmn:endevent>',
      '</bpmn:endevent> (line 12) differs in case from what it closes. An element before it is not closed: <bpmn:endEvent id="z"> (line 11)',
    ],
    ['</bpmn:endEvent>', '', 'An element before it is not closed: <bpmn:endEvent id="z"> (line 11)'],
  ])('%s that became "%s"', async (before, after, message) => {
    const { problems } = await compileXml(LISTED.replace(before, after));
    expect(problems.map(({ code }) => code)).toEqual(['NOT_BPMN']);
    expect(problems[0]?.message).toMatch(/closing tag mismatch\. /);
    expect(problems[0]?.message.split('mismatch. ')[1]).toBe(message);
  });
});

describe('reports only the misspelt attribute', () => {
  const timerAt = (host: string) =>
    `<bpmn:boundaryEvent id="b" attachedToRef="${host}">${timer('timeDuration', 'PT1H')}</bpmn:boundaryEvent>${flows('b>z')}`;
  const MODEL = bpmn(
    `${START_END}<bpmn:serviceTask id="rate"><bpmn:extensionElements><svc:actions>
<svc:action name="rate" kind="startWorkflow" workflow="rate" resultKey="score"/>
</svc:actions></bpmn:extensionElements></bpmn:serviceTask>
<bpmn:userTask id="ask"><bpmn:extensionElements><svc:actions><svc:action name="store" manual="true" keys="*"/></svc:actions>
<svc:uiActions><svc:uiAction name="save" action="store"/></svc:uiActions></bpmn:extensionElements></bpmn:userTask>
${nodes('exclusiveGateway:heavy userTask:more')}${flows('s>rate rate>ask ask>heavy heavy>z heavy>more[score>1] more>z')}${timerAt('rate')}`,
  ).replace('id="heavy"', 'id="heavy" default="heavy_z"');

  it('in a file that otherwise has no problems', async () => {
    expect((await compileXml(MODEL)).problems).toEqual([]);
  });

  it.each([
    ['kind="startWorkflow"', 'kind="startWorkFlow"', 'INVALID_VALUE rate'],
    ['action="store"', 'acton="store"', 'UNKNOWN_ATTRIBUTE ask'],
    ['manual="true"', 'manual="yes"', 'INVALID_VALUE ask'],
    ['name="store" manual', 'nmae="store" manual', 'UNKNOWN_ATTRIBUTE ask'],
    ['attachedToRef="rate"', 'attachedToRef="heavy"', 'INVALID_REFERENCE b'],
  ])('%s as %s', async (before, after, expected) => {
    const { problems } = await compileXml(MODEL.replace(before, after));
    expect(problems.map(({ code, element }) => `${code} ${element}`)).toEqual([expected]);
  });

  it('warns of a required member of a bodySchema that is misspelt', async () => {
    const schema = '{"properties":{"score":{}},"required":["scoer"]}';
    const xml = MODEL.replace(
      'action="store"/>',
      `action="store"><svc:bodySchema>${schema}</svc:bodySchema></svc:uiAction>`,
    );
    expect((await compileXml(xml)).problems).toMatchObject([
      { severity: 'warning', code: 'REQUIRED_UNKNOWN', element: 'ask' },
    ]);
  });

  it('warns of a default flow next to one that is always taken', async () => {
    const xml = MODEL.replace(/<bpmn:conditionExpression.*?<\/bpmn:conditionExpression>/, '');
    expect((await compileXml(xml)).problems).toEqual([
      {
        severity: 'warning',
        code: 'DEFAULT_NEVER_TAKEN',
        file: 'test.bpmn',
        element: 'heavy_z',
        message:
          'The default flow of "heavy" is never taken, because the flow "heavy_more" has no condition and is always taken.',
      },
    ]);
  });

  it('rejects a condition on the only outgoing flow', async () => {
    const { problems } = await compileXml(bpmn(START_END + nodes('userTask:a') + flows('s>a a>z[x]')));
    expect(problems.map(({ message }) => message)).toContain(
      'The only flow out of "a" may have no condition; add another flow or remove the condition.',
    );
  });
});

describe('namespaces', () => {
  const withAction = withTask(
    '<bpmn:userTask id="a"><bpmn:extensionElements><svc:actions><svc:action name="x" manual="true" keys="*"/></svc:actions></bpmn:extensionElements></bpmn:userTask>',
  );

  it.each([
    ['urn:svc:bpmn:2', 'svc'],
    ['urn:scv:bpmn:1', 'ours'],
    ['https://example.com/svc', 'svc'],
  ])('%s of the prefix %s is refused with ours', async (uri, prefix) => {
    const xml = withAction.replace('urn:svc:bpmn:1', uri).replaceAll('svc:action', `${prefix}:action`);
    const { problems } = await compileXml(xml.replace('xmlns:svc', `xmlns:${prefix}`));
    expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
      {
        code: 'NAMESPACE_UNKNOWN',
        message: `The namespace "${uri}" of the prefix "${prefix}" is not known here. Did you mean "urn:svc:bpmn:1"?`,
      },
    ]);
  });

  it.each(['urn:acme:bpmn:1', 'http://camunda.org/schema/1.0/bpmn'])(
    'accepts %s of another engine',
    async (uri) => {
      const xml = bpmn(SIMPLE).replace('xmlns:svc=', `xmlns:other="${uri}" xmlns:svc=`);
      expect(await errorsOf(xml)).toEqual([]);
    },
  );

  it('suggests the BPMN namespace if a file declares another one', async () => {
    const { problems } = await compileXml(bpmn(SIMPLE).replace('20100524', '20100525'));
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('The namespace of BPMN 2.0 is "http://www.omg.org/spec/BPMN/20100524/MODEL"'),
    ]);
  });
});

describe('how nodes are connected', () => {
  it.each([
    [
      'no start event',
      nodes('task:a endEvent:z') + flows('a>z'),
      ['MISSING_INCOMING a', 'MISSING_START P', 'UNREACHABLE a', 'UNREACHABLE z'],
    ],
    ['no end event', nodes('startEvent:s task:a') + flows('s>a'), ['MISSING_END P', 'MISSING_OUTGOING a']],
    [
      'a start event with a way in',
      SIMPLE + nodes('task:b parallelGateway:g') + flows('a>g g>b g>s b>z'),
      ['INVALID_INCOMING s'],
    ],
    [
      'an end event with a way out',
      `${SIMPLE}${nodes('task:b endEvent:y')}${flows('z>b b>y')}`,
      ['INVALID_OUTGOING z'],
    ],
    [
      'an island',
      `${SIMPLE}${nodes('exclusiveGateway:i task:j')}${flows('i>j j>i[x] i>z')}`,
      ['CONDITION_WITHOUT_ALTERNATIVE j_i', 'UNREACHABLE i', 'UNREACHABLE j'],
    ],
    ['a way that leads nowhere', `${SIMPLE}${nodes('task:b')}${flows('a>b')}`, ['MISSING_OUTGOING b']],
    [
      'a gateway that does nothing',
      START_END + nodes('exclusiveGateway:g') + flows('s>g g>z'),
      ['USELESS_GATEWAY g'],
    ],
    [
      'a direction that does not fit',
      `${START_END}<bpmn:parallelGateway id="g" gatewayDirection="Converging"/>${nodes('endEvent:y')}${flows('s>g g>z g>y')}`,
      ['GATEWAY_DIRECTION g'],
    ],
    [
      'an only flow with a condition',
      START_END + nodes('task:a') + flows('s>a a>z[x]'),
      ['CONDITION_WITHOUT_ALTERNATIVE a_z'],
    ],
    [
      'a condition after a start event',
      START_END + nodes('task:a') + flows('s>a[x] a>z'),
      ['CONDITION_NOT_ALLOWED s_a'],
    ],
    ['a flow without end', `${SIMPLE}<bpmn:sequenceFlow id="f" sourceRef="s"/>`, ['MISSING_VALUE f']],
    [
      'a default flow of another node',
      `${START_END}${nodes('task:a')}<bpmn:exclusiveGateway id="g" default="a_z"/>${flows('s>g g>a[x] g>z a>z')}`,
      ['INVALID_DEFAULT g'],
    ],
    [
      'a default flow with a condition',
      `${START_END}${nodes('task:a')}<bpmn:exclusiveGateway id="g" default="g_a"/>${flows('s>g g>a[x] g>z a>z')}`,
      ['INVALID_DEFAULT g_a'],
    ],
    [
      'two start events without conditions',
      `${nodes('startEvent:s startEvent:t exclusiveGateway:g endEvent:z')}${flows('s>g t>g g>z')}`,
      ['START_CONDITION s', 'START_CONDITION t'],
    ],
    [
      'two start events with the same condition',
      `<bpmn:startEvent id="s" svc:startCondition="x"/><bpmn:startEvent id="t" svc:startCondition="x"/>${nodes('exclusiveGateway:g endEvent:z')}${flows('s>g t>g g>z')}`,
      ['START_CONDITION t'],
    ],
  ])('refuses %s', async (_, content, expected) => {
    expect((await errorsOf(bpmn(content))).toSorted()).toEqual(expected);
  });

  it('refuses flows that cross the boundary of a subprocess, in both directions', async () => {
    const inside = nodes('startEvent:is task:ia endEvent:iz') + flows('is>ia ia>iz');
    const sub = `<bpmn:subProcess id="sub">${inside}</bpmn:subProcess>`;
    for (const [flow, id] of [
      ['s>ia', 's_ia'],
      ['ia>z', 'ia_z'],
    ] as const) {
      const errors = await errorsOf(bpmn(START_END + sub + flows(`s>sub sub>z ${flow}`)));
      expect(errors).toEqual([`FLOW_CROSSES_SCOPE ${id}`]);
    }
  });

  it('refuses a flow into another process', async () => {
    const other = `<bpmn:process id="Q">${nodes('startEvent:qs endEvent:qz')}${flows('qs>qz')}</bpmn:process>`;
    expect(await errorsOf(bpmn(SIMPLE + flows('a>qz'), { outside: other }))).toEqual([
      'FLOW_CROSSES_PROCESS a_qz',
    ]);
  });

  it.each([
    ['no start event', nodes('task:i endEvent:iz') + flows('i>iz'), 'MISSING_START sub'],
    [
      'two start events',
      nodes('startEvent:i startEvent:j exclusiveGateway:g endEvent:iz') + flows('i>g j>g g>iz'),
      'MULTIPLE_STARTS sub',
    ],
    [
      'a start event that waits',
      `<bpmn:startEvent id="i">${timer('timeDate', '2030-01-01T00:00:00Z')}</bpmn:startEvent>${nodes('endEvent:iz')}${flows('i>iz')}`,
      'INVALID_START i',
    ],
  ])('refuses a subprocess with %s', async (_, inside, expected) => {
    const sub = `<bpmn:subProcess id="sub">${inside}</bpmn:subProcess>`;
    expect(await errorsOf(bpmn(START_END + sub + flows('s>sub sub>z')))).toContain(expected);
  });

  const OUT = '<bpmn:outgoing>s_z</bpmn:outgoing>';
  const IN = '<bpmn:incoming>s_z</bpmn:incoming>';
  it.each([
    ['none', '', '', []],
    ['all', OUT, IN, []],
    ['one only', OUT, '', ['FLOW_LISTS_DISAGREE z']],
    ['one twice', OUT + OUT, IN, ['FLOW_LISTS_DISAGREE s']],
    ['a wrong one', OUT, IN + IN.replace('s_z', 's'), ['FLOW_LISTS_DISAGREE z']],
  ])('with lists of flows: %s', async (_, out, into, expected) => {
    expect(await errorsOf(withLists(out, into))).toEqual(expected);
  });

  it('explains a flow list entry whose flow was deleted', async () => {
    const { problems } = await compileXml(withLists(OUT, IN + IN.replace('s_z', 'gone')));
    expect(problems.map(({ message }) => message)).toEqual([
      'incoming names "gone", which is not in the file. If there should be no flow, remove the entry from the list.',
    ]);
  });

  it('explains how to fix a list left over from an edit', async () => {
    const { problems } = await compileXml(withLists(OUT, ''));
    expect(problems.map(({ message }) => message)).toEqual([
      'The incoming list of endEvent "z" does not agree with the sequence flows: s_z missing. Where targetRef of the flows is right, ' +
        'write the <incoming> children of the node accordingly, or take all <incoming> and <outgoing> out of the file: ' +
        'without them the flows alone decide.',
    ]);
  });
});

describe('event-based gateways', () => {
  const catchTimer = (id: string) =>
    `<bpmn:intermediateCatchEvent id="${id}">${timer('timeDuration', 'PT1S')}</bpmn:intermediateCatchEvent>`;
  const catchMessage =
    '<bpmn:intermediateCatchEvent id="n"><bpmn:messageEventDefinition messageRef="m"/></bpmn:intermediateCatchEvent>';
  const receive = '<bpmn:receiveTask id="r" messageRef="m"/>';

  it.each([
    ['two events', catchTimer('t') + catchMessage, 'g>t g>n t>z n>z', []],
    ['an event and a receive task', catchTimer('t') + receive, 'g>t g>r t>z r>z', []],
    ['one event', catchTimer('t'), 'g>t t>z', ['INVALID_EVENT_GATEWAY g', 'USELESS_GATEWAY g']],
    ['a task', catchTimer('t') + nodes('task:a'), 'g>t g>a t>z a>z', ['INVALID_EVENT_GATEWAY a']],
    [
      'a message event next to a receive task',
      catchMessage + receive,
      'g>n g>r n>z r>z',
      ['INVALID_EVENT_GATEWAY g'],
    ],
    ['a condition', catchTimer('t') + catchTimer('u'), 'g>t[x] g>u t>z u>z', ['CONDITION_NOT_ALLOWED g_t']],
    [
      'a boundary event after it',
      `${catchTimer('t') + receive}<bpmn:boundaryEvent id="b" attachedToRef="r">${timer('timeDuration', 'PT1S')}</bpmn:boundaryEvent>`,
      'g>t g>r t>z r>z b>z',
      ['INVALID_EVENT_GATEWAY r'],
    ],
    [
      'another way to an event',
      catchTimer('t') + catchTimer('u') + nodes('parallelGateway:p'),
      'p>t p>u',
      ['INVALID_EVENT_GATEWAY t', 'INVALID_EVENT_GATEWAY u'],
    ],
  ])('%s', async (name, targets, ways, expected) => {
    const xml =
      name === 'another way to an event'
        ? bpmn(START_END + nodes('eventBasedGateway:g') + targets + flows('s>p p>t p>u p>g g>t g>u t>z u>z'))
        : eventGateway(targets, ways);
    expect((await errorsOf(xml)).toSorted()).toEqual(expected);
  });
});

describe('events', () => {
  it.each([
    ['timeDate', 'tomorrow'],
    ['timeDate', '2030-02-30T00:00:00Z'],
    ['timeDate', '2030-01-01'],
    ['timeDate', ''],
  ])('refuses %s "%s"', async (property, text) => {
    expect(await errorsOf(withCatch(timer(property, text)))).toEqual(['INVALID_TIMER c']);
  });

  it.each([['5 minutes'], ['P'], ['PT'], ['P101Y'], ['P9999999999D'], ['-PT1S'], ['']])(
    'refuses the duration "%s"',
    async (text) => {
      expect(await errorsOf(withCatch(timer('timeDuration', text)))).toEqual(['INVALID_DURATION c']);
    },
  );

  it.each([
    ['R3/PT0.5S'],
    ['R0/PT1H'],
    ['R/P101Y'],
    ['0 0 * * * ?'],
    ['R3/2030-01-01T00:00:00Z/PT1H'],
    ['${often}'],
  ])('refuses the cycle "%s"', async (text) => {
    const xml = bpmn(
      `<bpmn:startEvent id="s">${timer('timeCycle', text)}</bpmn:startEvent>${nodes('endEvent:z')}${flows('s>z')}`,
    );
    expect(await errorsOf(xml)).toEqual([expect.stringMatching(/^INVALID_(TIMER|DURATION) s$/)]);
  });

  it('refuses a timer start event with a duration, with references, and references that do not parse', async () => {
    expect(await errorsOf(startWith(timer('timeDuration', 'PT1H')))).toEqual(['INVALID_TIMER s']);
    expect(await errorsOf(startWith(timer('timeDate', '${due}')))).toEqual(['INVALID_TIMER s']);
    expect(await errorsOf(withCatch(timer('timeDate', '${due')))).toEqual(['INVALID_EXPRESSION c']);
  });

  it('refuses timers with none or two times, and without type', async () => {
    const two =
      '<bpmn:timerEventDefinition><bpmn:timeDate xsi:type="bpmn:tFormalExpression">2030-01-01T00:00:00Z</bpmn:timeDate><bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1H</bpmn:timeDuration></bpmn:timerEventDefinition>';
    expect(await errorsOf(withCatch(two))).toEqual(['INVALID_TIMER c']);
    expect(await errorsOf(withCatch('<bpmn:timerEventDefinition/>'))).toEqual(['INVALID_TIMER c']);
    const untyped = timer('timeDuration', 'PT1H').replace(' xsi:type="bpmn:tFormalExpression"', '');
    expect(await errorsOf(withCatch(untyped))).toEqual(['EXPRESSION_NOT_FORMAL c']);
  });

  it.each([
    ['a catch event of none', withCatch(''), ['INVALID_EVENT_DEFINITION c']],
    ['a catch event of an error', withCatch('<bpmn:errorEventDefinition/>'), ['INVALID_EVENT_DEFINITION c']],
    [
      'two definitions',
      withCatch(timer('timeDuration', 'PT1S') + timer('timeDuration', 'PT2S')),
      ['MULTIPLE_EVENT_DEFINITIONS c'],
    ],
    ['a message event without message', withCatch('<bpmn:messageEventDefinition/>'), ['MISSING_MESSAGE c']],
    ['a receive task without message', withTask('<bpmn:receiveTask id="a"/>'), ['MISSING_MESSAGE a']],
    [
      'a message that says nothing of its receiver',
      withTask('<bpmn:receiveTask id="a" messageRef="m"/>', '<bpmn:message id="m"/>'),
      ['MISSING_CORRELATION a'],
    ],
    [
      'a correlation that is not CEL',
      withTask('<bpmn:receiveTask id="a" messageRef="m" svc:correlation="a ="/>', '<bpmn:message id="m"/>'),
      ['INVALID_EXPRESSION a'],
    ],
    [
      'an error end event without error',
      bpmn(
        `${nodes('startEvent:s')}<bpmn:endEvent id="z"><bpmn:errorEventDefinition/></bpmn:endEvent>${flows('s>z')}`,
      ),
      ['MISSING_ERROR_CODE z'],
    ],
    [
      'an error without code',
      bpmn(
        `${nodes('startEvent:s')}<bpmn:endEvent id="z"><bpmn:errorEventDefinition errorRef="e"/></bpmn:endEvent>${flows('s>z')}`,
        { outside: '<bpmn:error id="e"/>' },
      ),
      ['MISSING_ERROR_CODE z'],
    ],
  ])('refuses %s', async (_, xml, expected) => {
    expect(await errorsOf(xml)).toEqual(expected);
  });

  it.each([
    [
      'an error that does not interrupt',
      'cancelActivity="false"',
      '<bpmn:errorEventDefinition/>',
      'INVALID_BOUNDARY b',
    ],
    ['a priority of a timer', 'svc:priority="1"', timer('timeDuration', 'PT1S'), 'INVALID_BOUNDARY b'],
    [
      'a priority that is no number',
      'svc:priority="high"',
      '<bpmn:errorEventDefinition/>',
      'INVALID_VALUE b',
    ],
    [
      'a condition that is not CEL',
      'svc:condition="a &amp;"',
      '<bpmn:errorEventDefinition/>',
      'INVALID_EXPRESSION b',
    ],
    ['an event of none', '', '', 'INVALID_EVENT_DEFINITION b'],
  ])('refuses a boundary event with %s', async (_, attributes, definition, expected) => {
    const boundary = `<bpmn:boundaryEvent id="b" attachedToRef="a" ${attributes}>${definition}</bpmn:boundaryEvent>`;
    expect(await errorsOf(bpmn(SIMPLE + boundary + flows('b>z')))).toEqual([expected]);
  });

  it('refuses boundary events on gateways, on nothing and on another level', async () => {
    const sub = `<bpmn:subProcess id="sub">${nodes('startEvent:is task:ia endEvent:iz')}${flows('is>ia ia>iz')}</bpmn:subProcess>`;
    expect(await errorsOf(bpmn(SIMPLE + boundaryOn('attachedToRef="s"') + flows('b>z')))).toContain(
      'INVALID_REFERENCE b',
    );
    expect(await errorsOf(bpmn(SIMPLE + boundaryOn('') + flows('b>z')))).toContain('BOUNDARY_NOT_ATTACHED b');
    expect(
      await errorsOf(bpmn(START_END + sub + boundaryOn('attachedToRef="ia"') + flows('s>sub sub>z b>z'))),
    ).toEqual(['INVALID_BOUNDARY b']);
  });
});

describe('values', () => {
  it.each([
    ['a=', 'INVALID_EXPRESSION g_a'],
    ['${x}', 'INVALID_EXPRESSION g_a'],
    ['', 'MISSING_VALUE g_a'],
  ])('refuses the condition "%s"', async (condition, expected) => {
    const xml = bpmn(START_END + nodes('exclusiveGateway:g task:a') + flows(`s>g g>a[${condition}] g>z a>z`));
    expect(await errorsOf(xml)).toEqual([expected]);
  });

  it('recognizes a condition that begins with "=" as FEEL', async () => {
    const xml = bpmn(START_END + nodes('exclusiveGateway:g task:a') + flows('s>g g>a[=x>1] g>z a>z'));
    for (const text of [xml, xml.replace('xsi:type="bpmn:tFormalExpression"', '')]) {
      const { problems } = await compileXml(text);
      const errors = problems.filter(({ severity }) => severity === 'error');
      expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('this looks like FEEL')]);
    }
  });

  it.each([
    ['outcome = "withdrawn"', ' (compare with "==", not with "="): '],
    ['x > 1 and y > 1', ' (write "&&" for "and"): '],
    [
      'x > 1 or not (y = 1)',
      ' (compare with "==", not with "="; write "||" for "or"; write "!" for "not"): ',
    ],
    ['${x}', ' (a condition is written without ${ }): '],
    ['x == "a = b and c" +', 'condition: "x'],
  ])('says first what to write in place of %s', async (condition, hint) => {
    const xml = bpmn(START_END + nodes('exclusiveGateway:g task:a') + flows(`s>g g>a[HERE] g>z a>z`));
    const { problems } = await compileXml(xml.replace('HERE', condition));
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(hint)]);
  });

  it.each(['x < 5', 'x <5', 'x <y', 'x <= 5'])('explains how to write the "<" of %s', async (condition) => {
    const xml = bpmn(START_END + nodes('exclusiveGateway:g task:a') + flows('s>g g>a[HERE] g>z a>z'));
    const { problems } = await compileXml(xml.replace('<![CDATA[HERE]]>', condition));
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The file .* is written &lt;$/),
    ]);
  });

  it.each([
    ['targetRef="a"', 'targetRef="aa"', 'a'],
    ['<bpmn:task id="a"', '<bpmn:task id="a" defualt="x"', 'default'],
    ['<bpmn:task id="a"', '<bpmn:task id="a" svc:canGoBak="false"', 'svc:canGoBack'],
    ['id="P"', 'id="P" svc:expireAfter="P1D"', 'svc:expiresAfter'],
    ['id="P"', 'id="P" svc:searchble="a"', 'svc:searchable'],
    ['svc:actions>', 'svc:acitons>', 'actions'],
    ['action name="x"', 'action name="x" maunal="true"', 'manual'],
    ['action name="x"', 'action name="x" kind="startWorkfow"', 'startWorkflow'],
    ['<svc:action name="x"/>', '<svc:action name="x"><svc:inptu>{}</svc:inptu></svc:action>', 'input'],
  ])('suggests the closest name when %s is %s', async (before, after, nearest) => {
    const actions = '<svc:actions><svc:action name="x"/></svc:actions>';
    const task = `<bpmn:task id="a"><bpmn:extensionElements>${actions}</bpmn:extensionElements></bpmn:task>`;
    const { problems } = await compileXml(
      bpmn(START_END + task + flows('s>a a>z')).replaceAll(before, after),
    );
    const hints = problems.flatMap(({ message }) => /Did you mean "(.+)"\?/.exec(message)?.[1] ?? []);
    expect(hints).toEqual(nearest === undefined ? [] : [nearest]);
  });

  it('refuses conditions in other languages', async () => {
    const xml = bpmn(START_END + nodes('exclusiveGateway:g task:a') + flows('s>g g>a[x] g>z a>z')).replace(
      'xsi:type="bpmn:tFormalExpression"',
      'xsi:type="bpmn:tFormalExpression" language="http://www.w3.org/1999/XPath"',
    );
    expect(await errorsOf(xml)).toEqual(['UNSUPPORTED_LANGUAGE g_a']);
  });

  it.each([
    ['name="Order to cash"', 'INVALID_PROCESS_NAME P'],
    ['name="."', 'INVALID_PROCESS_NAME P'],
    ['svc:processName=".."', 'INVALID_PROCESS_NAME P'],
    [`svc:processName="${'x'.repeat(65)}"`, 'INVALID_PROCESS_NAME P'],
    ['svc:expiresAfter="soon"', 'INVALID_DURATION P'],
    ['svc:expiresAfter="${x}"', 'INVALID_DURATION P'],
    ['svc:expiresAfter="P101Y"', 'INVALID_DURATION P'],
    ['svc:expiresAfter="P36526D"', 'INVALID_DURATION P'],
    ['svc:searchable="a:b"', 'INVALID_VALUE P'],
    ['svc:searchable="a..b"', 'INVALID_PATH P'],
    ['svc:searchable="a, __proto__.b"', 'INVALID_PATH P'],
    [`svc:searchable="a.b, c, a['b']"`, 'INVALID_VALUE P'],
    [`svc:searchable="${'abcdefghi'.split('').join()}"`, 'INVALID_VALUE P'],
    [`svc:searchable="${'a'.repeat(256)}"`, 'INVALID_VALUE P'],
    ['svc:start=""', 'INVALID_VALUE P'],
    ['svc:start=" , "', 'INVALID_VALUE P'],
    ['svc:uuid="x"', 'INVALID_UUID P'],
    ['svc:expireAfter="P1D"', 'UNKNOWN_ATTRIBUTE P'],
    ['processType="Public"', 'NOT_IN_EXECUTABLE P'],
    ['unknown="x"', 'UNKNOWN_ATTRIBUTE P'],
  ])('refuses a process with %s', async (attributes, expected) => {
    expect(await errorsOf(bpmn(SIMPLE, { attributes }))).toEqual([expected]);
  });

  const message = '<bpmn:messageEventDefinition messageRef="m"/>';
  const cycle = timer('timeCycle', 'R/PT1H');
  it.each([
    ['an empty svc:start', 'svc:start=""', '', '', 'INVALID_VALUE s'],
    ['svc:start without a name', 'svc:start=","', '', '', 'INVALID_VALUE s'],
    ['svc:start where a message starts', 'svc:start="clerk"', message, '', 'MISPLACED_EXTENSION s'],
    ['svc:start where a timer starts', 'svc:start="clerk"', cycle, '', 'MISPLACED_EXTENSION s'],
    ['svc:start of a process that messages start', '', message, 'svc:start="clerk"', 'MISPLACED_EXTENSION P'],
    ['svc:start of a process that timers start', '', cycle, 'svc:start="clerk"', 'MISPLACED_EXTENSION P'],
  ])('refuses %s', async (_name, own, content, attributes, expected) => {
    const start = `<bpmn:startEvent id="s" ${own}>${content}</bpmn:startEvent>${nodes('endEvent:z')}${flows('s>z')}`;
    const outside = '<bpmn:message id="m" name="m" svc:correlation=""/>';
    expect(await errorsOf(bpmn(start, { attributes, outside }))).toEqual([expected]);
  });

  it.each([
    ['calledElement missing', '', 'MISSING_VALUE a'],
    ['waits that is no flag', 'calledElement="q" svc:waits="yes"', 'INVALID_VALUE a'],
    ['a result without waiting', 'calledElement="q" svc:waits="false" svc:outputKey="r"', 'INVALID_VALUE a'],
    ['an output key that is no path', 'calledElement="q" svc:outputKey="a..b"', 'INVALID_PATH a'],
    ['an unknown copy rule', 'calledElement="q" svc:copy="some"', 'INVALID_VALUE a'],
    ['keys that no copy rule uses', 'calledElement="q" svc:copyKeys="a"', 'INVALID_VALUE a'],
    [
      'keys that reach a prototype',
      'calledElement="q" svc:copy="only" svc:copyKeys="__proto__.x"',
      'INVALID_PATH a',
    ],
  ])('refuses a call activity with %s', async (_, attributes, expected) => {
    expect(await errorsOf(withTask(`<bpmn:callActivity id="a" ${attributes}/>`))).toEqual([expected]);
  });

  it('refuses a multi-instance call without collection, or with one that is not CEL', async () => {
    expect(await errorsOf(callWith('<bpmn:multiInstanceLoopCharacteristics/>'))).toEqual(['MISSING_VALUE a']);
    expect(
      await errorsOf(callWith('<bpmn:multiInstanceLoopCharacteristics svc:collection="a["/>')),
    ).toContain('INVALID_EXPRESSION a');
  });

  it('refuses a call of a process of the file that cannot be started by it', async () => {
    const called = `<bpmn:process id="Q"><bpmn:startEvent id="qs">${timer('timeDate', '2030-01-01T00:00:00Z')}</bpmn:startEvent>${nodes('endEvent:qz')}${flows('qs>qz')}</bpmn:process>`;
    expect(await errorsOf(withTask('<bpmn:callActivity id="a" calledElement="Q"/>', called))).toEqual([
      'CALLED_PROCESS_HAS_NO_START a',
    ]);
    expect(
      await errorsOf(withTask('<bpmn:callActivity id="a" calledElement="Q" svc:appId="lib"/>', called)),
    ).toEqual([]);
  });

  it('refuses lanes that list a node twice, or something other than a node', async () => {
    expect(await errorsOf(withLanes(laneOf('l1', 'a') + laneOf('l2', 'a')))).toEqual(['INVALID_LANE a']);
    expect(await errorsOf(withLanes(laneOf('l1', 's_a')))).toContain('INVALID_LANE l1');
    expect(await errorsOf(withLanes(laneOf('l1', 'nobody')))).toEqual(['UNRESOLVED_REFERENCE l1']);
  });
});

describe('files', () => {
  it.each([
    ['no XML', 'hello'],
    ['nothing', ''],
    ['other XML', '<a/>'],
    ['BPMN of another namespace', '<definitions xmlns="http://example.com"/>'],
    ['an end in the middle', bpmn(SIMPLE).slice(0, 300)],
  ])('refuses %s', async (_, xml) => {
    const errors = await errorsOf(xml);
    expect(errors.length).toBeGreaterThan(0);
    expect(
      errors.filter((error) => !/^(NOT_BPMN|UNPARSABLE_CONTENT|NO_PROCESS|MISSING_|UNRESOLVED)/.test(error)),
    ).toEqual([]);
  });

  it.each([
    ['<bpmn:endEvent id="z"/>', '<bpmn:endEvent id="z">', '<bpmn:endEvent id="z"> (line 5)'],
    ['<bpmn:endEvent id="z"/>', "<bpmn:endEvent\n id = 'z' name='a > b'>", '<bpmn:endEvent id="z"> (line 5)'],
    [
      '<bpmn:endEvent id="z"/>',
      '<bpmn:endEvent id="z">\n<!-- </x> --><![CDATA[<y>]]>',
      '<bpmn:endEvent id="z"> (line 5)',
    ],
    ['<bpmn:outgoing>s_z</bpmn:outgoing>', '<bpmn:outgoing>s_z', '<bpmn:outgoing> (line 4)'],
    ['</bpmn:process>', '</bpmn:proces>', '<bpmn:process id="P"> (line 3)'],
    ['</bpmn:process>', '</bpmn:processes>', '<bpmn:process id="P"> (line 3)'],
    ['</bpmn:definitions>', '', '<bpmn:definitions id="D"> (line 2)'],
    ['</bpmn:definitions>', '</bpmn:definitions', '<bpmn:definitions id="D"> (line 2)'],
  ])('names the element that is not closed where %s is %s', async (before, after, named) => {
    const xml = bpmn(
      '\n<bpmn:startEvent id="s"><bpmn:outgoing>s_z</bpmn:outgoing></bpmn:startEvent>\n<bpmn:endEvent id="z"/>\n\n',
    );
    const { problems } = await compileXml(xml.replace(before, after));
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      [
        'NOT_BPMN',
        expect.stringMatching(/^The file is not BPMN 2\.0 XML: .*\. An element before it is not closed: /),
      ],
    ]);
    expect(problems[0]?.message.endsWith(`: ${named}`)).toBe(true);
  });

  it('refuses a file without process, or with drawings only', async () => {
    expect(await errorsOf(definitions('<bpmn:message id="m"/>'))).toEqual(['NO_PROCESS -']);
    expect(await errorsOf(definitions('<bpmn:process id="P" isExecutable="false"/>'))).toEqual([
      'NO_PROCESS -',
    ]);
  });

  it('refuses duplicate ids, missing ids and unresolved references', async () => {
    expect(await errorsOf(bpmn(`${SIMPLE}<bpmn:textAnnotation id="a"/>`))).toContain('DUPLICATE_ID -');
    expect(await errorsOf(bpmn(`${SIMPLE}<bpmn:task/>`))).toEqual(['MISSING_ID P']);
    expect(await errorsOf(bpmn(`${SIMPLE}<bpmn:sequenceFlow id="f" sourceRef="a" targetRef="q"/>`))).toEqual([
      'UNRESOLVED_REFERENCE f',
    ]);
    expect(await errorsOf(bpmn(SIMPLE, { outside: '<bpmn:error id="e" structureRef="nowhere"/>' }))).toEqual(
      [],
    );
  });

  it('refuses repeated parts, because the reader would keep only the last one', async () => {
    const twice = bpmn(START_END + nodes('exclusiveGateway:g task:a') + flows('s>g g>a[x] g>z a>z')).replace(
      /(<bpmn:conditionExpression.*?<\/bpmn:conditionExpression>)/,
      '$1$1',
    );
    expect(await errorsOf(twice)).toEqual(['REPEATED_PART g_a']);
    const message = withCatch(
      '<bpmn:messageEventDefinition messageRef="m"><bpmn:operationRef>o</bpmn:operationRef><bpmn:operationRef>o</bpmn:operationRef></bpmn:messageEventDefinition>',
    ).replace(
      '</bpmn:definitions>',
      '<bpmn:message id="m"/><bpmn:interface id="i" name="i"><bpmn:operation id="o" name="o"><bpmn:inMessageRef>m</bpmn:inMessageRef></bpmn:operation></bpmn:interface></bpmn:definitions>',
    );
    expect(await errorsOf(message)).toContain('REPEATED_PART c');
    expect(await Promise.all([twice, bpmn(SIMPLE), message].map((xml) => errorsOf(xml)))).toEqual([
      ['REPEATED_PART g_a'],
      [],
      expect.arrayContaining(['REPEATED_PART c']),
    ]);
  });

  it('refuses flags that the reader would read as false', async () => {
    expect(await errorsOf(bpmn(SIMPLE).replace('isExecutable="true"', 'isExecutable="1"'))).toContain(
      'INVALID_VALUE -',
    );
    expect(
      await errorsOf(
        bpmn(
          `${SIMPLE}<bpmn:boundaryEvent id="b" attachedToRef="a" cancelActivity = 'TRUE'><bpmn:errorEventDefinition/></bpmn:boundaryEvent>${flows('b>z')}`,
        ),
      ),
    ).toContain('INVALID_VALUE -');
  });

  it('warns of extensions of other tools', async () => {
    const xml = bpmn(SIMPLE).replace(
      '<bpmn:userTask id="a"/>',
      '<bpmn:userTask id="a" xmlns:zz="urn:zz" zz:async="true"/>',
    );
    const { definitions: found, problems } = await compileXml(xml);
    expect(found).toHaveLength(1);
    expect(problems).toMatchObject([
      { severity: 'warning', code: 'FOREIGN_EXTENSION', message: expect.stringContaining('"zz"') },
    ]);
  });

  it('reports everything at once, errors first, each with file and message', async () => {
    const { problems } = await compileXml(
      bpmn(nodes('startEvent:s userTask:u scriptTask:q task:x') + flows('s>u u>x[a=] x>q')),
    );
    expect(problems.map(({ severity, code, element }) => [severity, code, element])).toEqual([
      ['error', 'UNSUPPORTED_ELEMENT', 'q'],
      ['error', 'INVALID_EXPRESSION', 'u_x'],
      ['error', 'MISSING_END', 'P'],
      ['error', 'CONDITION_WITHOUT_ALTERNATIVE', 'u_x'],
      ['warning', 'TASK_DOES_NOTHING', 'x'],
    ]);
    expect(problems.every(({ file, message }) => file === 'test.bpmn' && message.length > 20)).toBe(true);
  });

  it('shows 200 problems and counts the rest', async () => {
    const tasks = Array.from({ length: 300 }, (_, index) => `<bpmn:scriptTask id="t${index}"/>`).join('');
    const { problems } = await compileXml(bpmn(SIMPLE + tasks));
    expect(problems).toHaveLength(201);
    expect(problems.at(-1)).toMatchObject({
      code: 'MORE_PROBLEMS',
      message: '100 more problems are not shown.',
    });
  });
});
