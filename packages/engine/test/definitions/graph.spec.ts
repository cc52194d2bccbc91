import { describe, expect, it } from 'vitest';
import { bpmn, compileXml, definitions, flows, graphOf, nodeOf, nodes } from './compile.js';

const WITH_CALL = `${nodes('startEvent:s endEvent:z')}<bpmn:callActivity id="a" calledElement="q"/>${flows('s>a a>z')}`;
const SIMPLE = nodes('startEvent:s userTask:a endEvent:z') + flows('s>a a>z');

const boundary = (id: string, attributes: string, definition = '<bpmn:errorEventDefinition/>') =>
  `<bpmn:boundaryEvent id="${id}" attachedToRef="a" ${attributes}>${definition}</bpmn:boundaryEvent>`;

/** Keys of nodes given by number. */
function keysOf(graph: Awaited<ReturnType<typeof graphOf>>, numbers: readonly number[]): string[] {
  return numbers.map((number) => graph.nodes[number]?.key ?? '?');
}

describe('compiling a process', () => {
  it('connects nodes and flows by number, in the order of their ids', async () => {
    const graph = await graphOf(
      bpmn(
        nodes('endEvent:z exclusiveGateway:g startEvent:s task:b task:a') +
          flows('s>g g>a[x==1] g>b a>z b>z'),
      ),
    );
    expect(graph.nodes.map(({ index, key, kind }) => [index, key, kind])).toEqual([
      [0, 'a', 'TASK'],
      [1, 'b', 'TASK'],
      [2, 'g', 'EXCLUSIVE_GATEWAY'],
      [3, 's', 'START_EVENT'],
      [4, 'z', 'END_EVENT'],
    ]);
    expect(graph.starts).toEqual([3]);
    expect(nodeOf(graph, 'g').outgoing.map((flow) => graph.flows[flow])).toEqual([
      { index: 2, key: 'g_a', source: 2, target: 0, condition: 'x==1' },
      { index: 3, key: 'g_b', source: 2, target: 1, condition: null },
    ]);
    expect(nodeOf(graph, 'z').incoming).toEqual([0, 1]);
  });

  it('normalizes searchable paths', async () => {
    const file = bpmn(SIMPLE, { attributes: `svc:searchable=" client['id'] , lines[0]['net price']"` });
    expect((await graphOf(file)).searchable).toEqual(['client.id', 'lines[0].net price']);
    expect(await graphOf(bpmn(SIMPLE))).not.toHaveProperty('searchable');
    expect(await graphOf(bpmn(SIMPLE, { attributes: 'svc:searchable=" "' }))).not.toHaveProperty(
      'searchable',
    );
  });

  it('compiles a plain process with default values', async () => {
    const graph = await graphOf(bpmn(SIMPLE.replace('userTask', 'task')));
    expect(graph).toMatchObject({
      format: 1,
      key: 'P',
      name: 'P',
      inputSchema: null,
      expiresAfter: null,
      lanes: [],
    });
    expect(nodeOf(graph, 'a')).toMatchObject({
      id: 0,
      name: null,
      event: null,
      scope: null,
      lane: null,
      defaultFlow: null,
      startCondition: null,
      canGoBack: true,
      actions: [],
      uiActions: [],
      call: null,
      timeout: null,
    });
    expect(nodeOf(graph, 's').event).toEqual({ type: 'NONE' });
  });

  it('is plain JSON', async () => {
    const graph = await graphOf(bpmn(SIMPLE));
    expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
  });

  it.each([
    ['name="[retail]on-boarding_(1).v2"', '[retail]on-boarding_(1).v2'],
    ['name="For people" svc:processName="onboarding"', 'onboarding'],
    ['', 'P'],
  ])('takes the name of a process from %s', async (attributes, name) => {
    expect((await graphOf(bpmn(SIMPLE, { attributes }))).name).toBe(name);
  });

  it('does not depend on the order of elements in the file', async () => {
    const parts = [
      '<bpmn:startEvent id="s"><bpmn:outgoing>f1</bpmn:outgoing></bpmn:startEvent>',
      '<bpmn:exclusiveGateway id="g"><bpmn:incoming>f1</bpmn:incoming><bpmn:outgoing>f3</bpmn:outgoing><bpmn:outgoing>f2</bpmn:outgoing></bpmn:exclusiveGateway>',
      '<bpmn:subProcess id="a"><bpmn:incoming>f2</bpmn:incoming><bpmn:outgoing>f4</bpmn:outgoing><bpmn:endEvent id="ae"><bpmn:incoming>af</bpmn:incoming></bpmn:endEvent><bpmn:sequenceFlow id="af" sourceRef="as" targetRef="ae"/><bpmn:startEvent id="as"><bpmn:outgoing>af</bpmn:outgoing></bpmn:startEvent></bpmn:subProcess>',
      '<bpmn:task id="b"><bpmn:incoming>f3</bpmn:incoming><bpmn:outgoing>f5</bpmn:outgoing></bpmn:task>',
      '<bpmn:endEvent id="z"><bpmn:incoming>f4</bpmn:incoming><bpmn:incoming>f5</bpmn:incoming></bpmn:endEvent>',
      '<bpmn:sequenceFlow id="f1" sourceRef="s" targetRef="g"/>',
      '<bpmn:sequenceFlow id="f2" sourceRef="g" targetRef="a"/>',
      '<bpmn:sequenceFlow id="f3" sourceRef="g" targetRef="b"/>',
      '<bpmn:sequenceFlow id="f4" sourceRef="a" targetRef="z"/>',
      '<bpmn:sequenceFlow id="f5" sourceRef="b" targetRef="z"/>',
    ];
    const expected = await graphOf(bpmn(parts.join('')));
    expect(nodeOf(expected, 'g').outgoing.map((flow) => expected.flows[flow]?.key)).toEqual(['f3', 'f2']);
    for (let turn = 1; turn < parts.length; turn += 1) {
      const turned = [...parts.slice(turn), ...parts.slice(0, turn)].toReversed();
      expect(await graphOf(bpmn(turned.join('')))).toEqual(expected);
    }
  });

  it('evaluates conditions in the order of the flows in the file if there are no flow lists', async () => {
    const graph = await graphOf(
      bpmn(nodes('startEvent:s exclusiveGateway:g endEvent:z endEvent:a') + flows('s>g g>z[x>1] g>a[x>0]')),
    );
    expect(nodeOf(graph, 'g').outgoing.map((flow) => graph.flows[flow]?.key)).toEqual(['g_z', 'g_a']);
  });

  it('reads several processes of one file, and prefixes of any kind', async () => {
    const xml = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:x="urn:svc:bpmn:1" id="D" targetNamespace="t">
      <process id="A" x:expiresAfter="P1D"><startEvent id="s"/><endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="e"/></process>
      <process id="B"><startEvent id="s2"/><endEvent id="e2"/><sequenceFlow id="f2" sourceRef="s2" targetRef="e2"/></process></definitions>`;
    const { definitions: found, problems } = await compileXml(xml);
    expect(found.map(({ key, expiresAfter }) => [key, expiresAfter])).toEqual([
      ['A', 'P1D'],
      ['B', null],
    ]);
    expect(problems).toEqual([]);
  });

  it('ignores a process that is only documentation, with its unsupported elements', async () => {
    const drawn = '<bpmn:process id="Q" isExecutable="false"><bpmn:scriptTask id="q"/></bpmn:process>';
    const { definitions: found, problems } = await compileXml(bpmn(SIMPLE, { outside: drawn }));
    expect(found.map(({ key }) => key)).toEqual(['P']);
    expect(problems).toMatchObject([{ severity: 'warning', code: 'NOT_EXECUTABLE', element: 'Q' }]);
  });

  it('ignores drawings, notes and data', async () => {
    const notes = `<bpmn:documentation>text</bpmn:documentation><bpmn:textAnnotation id="t"><bpmn:text>x</bpmn:text></bpmn:textAnnotation>
      <bpmn:association id="as" sourceRef="a" targetRef="t"/><bpmn:group id="gr"/><bpmn:dataObject id="do"/>
      <bpmn:dataObjectReference id="dor" dataObjectRef="do"/><bpmn:property id="pr" name="x"/>`;
    const { definitions: found, problems } = await compileXml(
      bpmn(
        `<bpmn:documentation>text</bpmn:documentation><bpmn:property id="pr" name="x"/>${SIMPLE}${notes.replace(/<bpmn:documentation>.*?<\/bpmn:documentation>/, '').replace(/<bpmn:property[^>]*>/, '')}`,
        { outside: '<bpmn:dataStore id="ds"/><bpmn:itemDefinition id="it" structureRef="xsd:string"/>' },
      ),
    );
    expect(problems).toEqual([]);
    expect(found).toHaveLength(1);
  });
});

describe('kinds of nodes', () => {
  it.each([
    ['task', 'TASK'],
    ['serviceTask', 'TASK'],
    ['manualTask', 'TASK'],
    ['userTask', 'USER_TASK'],
    ['sendTask', 'SEND_TASK'],
    ['intermediateThrowEvent', 'INTERMEDIATE_THROW_EVENT'],
  ])('compiles %s', async (kind, expected) => {
    const graph = await graphOf(bpmn(nodes(`startEvent:s ${kind}:a endEvent:z`) + flows('s>a a>z')));
    expect(nodeOf(graph, 'a').kind).toBe(expected);
  });

  it('compiles messages with their correlation: that of the event before that of the message', async () => {
    const graph = await graphOf(
      bpmn(
        `<bpmn:startEvent id="s"><bpmn:messageEventDefinition messageRef="m1"/></bpmn:startEvent>
         <bpmn:receiveTask id="r" messageRef="m1" svc:correlation="order.id" svc:timeout="PT5M"/>
         <bpmn:sendTask id="t" messageRef="m2"/>
         <bpmn:endEvent id="z"><bpmn:messageEventDefinition messageRef="m1" svc:correlation=""/></bpmn:endEvent>${flows('s>r r>t t>z')}`,
        {
          outside:
            '<bpmn:message id="m1" name="paid" svc:correlation="id"/><bpmn:message id="m2" svc:correlation=""/>',
        },
      ),
    );
    expect(nodeOf(graph, 's').event).toEqual({ type: 'MESSAGE', message: 'paid', correlation: 'id' });
    expect(nodeOf(graph, 'r')).toMatchObject({
      kind: 'RECEIVE_TASK',
      timeout: 'PT5M',
      event: { type: 'MESSAGE', message: 'paid', correlation: 'order.id' },
    });
    expect(nodeOf(graph, 't').event).toEqual({ type: 'MESSAGE', message: 'm2', correlation: null });
    expect(nodeOf(graph, 'z').event).toEqual({ type: 'MESSAGE', message: 'paid', correlation: null });
  });

  it.each([
    ['startEvent', 'timeCycle', 'R3/PT1H', 'CYCLE'],
    ['startEvent', 'timeCycle', 'R/P1D', 'CYCLE'],
    ['startEvent', 'timeDate', '2030-01-31T08:00:00+01:00', 'DATE'],
    ['intermediateCatchEvent', 'timeDuration', 'P1Y2M3DT4H5M6.5S', 'DURATION'],
    ['intermediateCatchEvent', 'timeDuration', '${wait}', 'DURATION'],
    ['intermediateCatchEvent', 'timeDate', '${order.due}', 'DATE'],
  ])('compiles a %s with %s %s', async (kind, property, text, type) => {
    const timer = `<bpmn:${kind} id="t"><bpmn:timerEventDefinition><bpmn:${property} xsi:type="bpmn:tFormalExpression">${text}</bpmn:${property}></bpmn:timerEventDefinition></bpmn:${kind}>`;
    const rest = kind === 'startEvent' ? 't>z' : 's>t t>z';
    const start = kind === 'startEvent' ? '' : nodes('startEvent:s');
    const graph = await graphOf(bpmn(timer + start + nodes('endEvent:z') + flows(rest)));
    expect(nodeOf(graph, 't').event).toEqual({ type: 'TIMER', timer: { type, expression: text } });
  });

  it('compiles end events that terminate and throw errors', async () => {
    const graph = await graphOf(
      bpmn(
        `${nodes('startEvent:s parallelGateway:g')}<bpmn:endEvent id="t"><bpmn:terminateEventDefinition/></bpmn:endEvent>
         <bpmn:endEvent id="e"><bpmn:errorEventDefinition errorRef="err"/></bpmn:endEvent>${flows('s>g g>t g>e')}`,
        { outside: '<bpmn:error id="err" errorCode="NO_MONEY"/>' },
      ),
    );
    expect(nodeOf(graph, 't').event).toEqual({ type: 'TERMINATE' });
    expect(nodeOf(graph, 'e').event).toEqual({ type: 'ERROR', code: 'NO_MONEY' });
  });

  it('shares event definitions outside processes', async () => {
    const graph = await graphOf(
      bpmn(
        `${nodes('startEvent:s')}<bpmn:endEvent id="e"><bpmn:eventDefinitionRef>ED</bpmn:eventDefinitionRef></bpmn:endEvent>${flows('s>e')}`,
        { outside: '<bpmn:terminateEventDefinition id="ED"/>' },
      ),
    );
    expect(nodeOf(graph, 'e').event).toEqual({ type: 'TERMINATE' });
  });

  it('puts error events into the order in which they are tried', async () => {
    const timer =
      '<bpmn:timerEventDefinition><bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1S</bpmn:timeDuration></bpmn:timerEventDefinition>';
    const { definitions: found, problems } = await compileXml(
      bpmn(
        WITH_CALL +
          boundary('b0', 'cancelActivity="false"', timer) +
          boundary('b1', '') +
          boundary('b2', 'svc:priority="10"') +
          boundary('b3', 'svc:priority="2" svc:condition="retries &lt; 3"') +
          boundary('b4', '') +
          flows('b0>z b1>z b2>z b3>z b4>z'),
      ),
    );
    const [graph] = found;
    expect(graph && keysOf(graph, nodeOf(graph, 'a').boundaries)).toEqual(['b3', 'b2', 'b1', 'b4', 'b0']);
    expect(graph && nodeOf(graph, 'b3')).toMatchObject({
      attachedTo: 0,
      interrupting: true,
      condition: 'retries < 3',
      event: { type: 'ERROR', code: null },
    });
    expect(graph && nodeOf(graph, 'b0')).toMatchObject({ interrupting: false, condition: null });
    expect(problems).toMatchObject([{ severity: 'warning', code: 'SAME_PRIORITY', element: 'b4' }]);
  });

  it('puts events that name an error before those that catch every error, without a warning', async () => {
    const named = '<bpmn:errorEventDefinition errorRef="E"/>';
    const { definitions: found, problems } = await compileXml(
      bpmn(
        WITH_CALL +
          boundary('all', '') +
          boundary('allFirst', 'svc:priority="1"') +
          boundary('one', '', named) +
          boundary('oneFirst', 'svc:priority="2"', named) +
          flows('all>z allFirst>z one>z oneFirst>z'),
        { outside: '<bpmn:error id="E" errorCode="E"/>' },
      ),
    );
    const [graph] = found;
    const order = graph && keysOf(graph, nodeOf(graph, 'a').boundaries);
    expect(order).toEqual(['oneFirst', 'one', 'allFirst', 'all']);
    expect(problems).toEqual([]);
  });

  it('keeps default flows, and conditions of every kind of source that can have them', async () => {
    const graph = await graphOf(
      bpmn(
        `${nodes('startEvent:s')}<bpmn:inclusiveGateway id="g" default="g_b"/><bpmn:task id="a" default="a_z"/>${nodes('task:b endEvent:z')}${flows('s>g g>a[x] g>b a>b[y] a>z b>z')}`,
      ),
    );
    expect(graph.flows[nodeOf(graph, 'g').defaultFlow ?? -1]?.key).toBe('g_b');
    expect(graph.flows[nodeOf(graph, 'a').defaultFlow ?? -1]?.key).toBe('a_z');
    expect(graph.flows.filter(({ condition }) => condition !== null).map(({ key }) => key)).toEqual([
      'a_b',
      'g_a',
    ]);
  });

  it('ignores conditions after a parallel gateway, with a warning', async () => {
    const { definitions: found, problems } = await compileXml(
      bpmn(nodes('startEvent:s parallelGateway:g endEvent:y endEvent:z') + flows('s>g g>y[x] g>z')),
    );
    expect(found[0]?.flows.map(({ condition }) => condition)).toEqual([null, null, null]);
    expect(problems).toMatchObject([{ severity: 'warning', code: 'CONDITION_IGNORED', element: 'g_y' }]);
  });

  it('accepts a CEL condition without type, with a warning', async () => {
    const xml = bpmn(
      nodes('startEvent:s exclusiveGateway:g endEvent:y endEvent:z') + flows('s>g g>y[x>1] g>z'),
    ).replace(' xsi:type="bpmn:tFormalExpression"', '');
    const { definitions: found, problems } = await compileXml(xml);
    expect(found[0]?.flows.map(({ condition }) => condition)).toEqual(['x>1', null, null]);
    expect(problems).toMatchObject([{ severity: 'warning', code: 'EXPRESSION_NOT_FORMAL', element: 'g_y' }]);
  });
});

describe('levels, lanes and calls', () => {
  const inner = '<bpmn:startEvent id="is"/><bpmn:task id="ia"/><bpmn:endEvent id="iz"/>';

  it('sets the scope of nodes in a subprocess', async () => {
    const graph = await graphOf(
      bpmn(
        `${nodes('startEvent:s endEvent:z')}<bpmn:subProcess id="sub">${inner}${flows('is>ia ia>iz')}</bpmn:subProcess>${flows('s>sub sub>z')}`,
      ),
    );
    const sub = nodeOf(graph, 'sub');
    expect(keysOf(graph, sub.starts)).toEqual(['is']);
    expect(['is', 'ia', 'iz'].map((key) => nodeOf(graph, key).scope)).toEqual([
      sub.index,
      sub.index,
      sub.index,
    ]);
    expect(keysOf(graph, graph.starts)).toEqual(['s']);
  });

  it('puts nodes into the innermost lane, those of a subprocess into its lane', async () => {
    const lanes = `<bpmn:laneSet id="ls"><bpmn:lane id="outer" name="Sales" svc:execute="sales, boss"><bpmn:flowNodeRef>s</bpmn:flowNodeRef><bpmn:flowNodeRef>sub</bpmn:flowNodeRef>
      <bpmn:childLaneSet><bpmn:lane id="inner"><bpmn:flowNodeRef>s</bpmn:flowNodeRef></bpmn:lane></bpmn:childLaneSet></bpmn:lane>
      <bpmn:lane id="other" svc:execute="back-office"><bpmn:flowNodeRef>z</bpmn:flowNodeRef></bpmn:lane></bpmn:laneSet>`;
    const graph = await graphOf(
      bpmn(
        `${lanes}${nodes('startEvent:s task:free endEvent:z')}<bpmn:subProcess id="sub">${inner}${flows('is>ia ia>iz')}</bpmn:subProcess>${flows('s>sub sub>free free>z')}`,
      ),
    );
    expect(graph.lanes).toEqual([
      { key: 'inner', name: null, execute: ['sales', 'boss'] },
      { key: 'other', name: null, execute: ['back-office'] },
      { key: 'outer', name: 'Sales', execute: ['sales', 'boss'] },
    ]);
    const laneOf = (key: string) => graph.lanes[nodeOf(graph, key).lane ?? -1]?.key ?? null;
    expect(['s', 'sub', 'ia', 'z', 'free'].map(laneOf)).toEqual(['inner', 'outer', 'outer', 'other', null]);
  });

  it('compiles calls', async () => {
    const calls = `<bpmn:callActivity id="c1" calledElement="Q"/>
      <bpmn:callActivity id="c2" calledElement="elsewhere" svc:appId="lib" svc:startCondition="fast" svc:copy="only" svc:copyKeys="a, b.c" svc:outputKey="result.value"/>
      <bpmn:callActivity id="c3" calledElement="[x]y" svc:waits="false" svc:copy="except" svc:copyKeys="secret"/>
      <bpmn:callActivity id="c4" calledElement="q" svc:outputKey="r"><bpmn:multiInstanceLoopCharacteristics isSequential="true" svc:collection="items"/></bpmn:callActivity>`;
    const { definitions: found } = await compileXml(
      bpmn(calls + nodes('startEvent:s endEvent:z') + flows('s>c1 c1>c2 c2>c3 c3>c4 c4>z'), {
        outside: `<bpmn:process id="Q" name="q">${nodes('startEvent:qs endEvent:qz')}${flows('qs>qz')}</bpmn:process>`,
      }),
    );
    const graph = found[0]!;
    const plain = { appId: null, startCondition: null, waits: true, copy: { mode: 'ALL' }, outputKey: null };
    expect(nodeOf(graph, 'c1').call).toEqual({ ...plain, process: 'q', multiInstance: null });
    expect(nodeOf(graph, 'c2').call).toEqual({
      process: 'elsewhere',
      appId: 'lib',
      startCondition: 'fast',
      waits: true,
      copy: { mode: 'ONLY', keys: ['a', 'b.c'] },
      outputKey: 'result.value',
      multiInstance: null,
    });
    expect(nodeOf(graph, 'c3').call).toMatchObject({
      waits: false,
      copy: { mode: 'EXCEPT', keys: ['secret'] },
    });
    expect(nodeOf(graph, 'c4').call?.multiInstance).toEqual({ collection: 'items', sequential: true });
  });

  it('reads pools and message flows, which do not affect execution', async () => {
    const { definitions: found, problems } = await compileXml(
      definitions(
        `<bpmn:collaboration id="C"><bpmn:participant id="p1" processRef="A"/><bpmn:participant id="p2" processRef="B"/><bpmn:messageFlow id="mf" sourceRef="at" targetRef="p2"/></bpmn:collaboration>
         <bpmn:message id="m" svc:correlation=""/>
         <bpmn:process id="A">${nodes('startEvent:as endEvent:az')}<bpmn:sendTask id="at" messageRef="m"/>${flows('as>at at>az')}</bpmn:process>
         <bpmn:process id="B">${nodes('startEvent:bs endEvent:bz')}${flows('bs>bz')}</bpmn:process>`,
      ),
    );
    expect(problems).toEqual([]);
    expect(found).toHaveLength(2);
  });

  it('selects among several start events by their conditions', async () => {
    const graph = await graphOf(
      bpmn(
        `<bpmn:startEvent id="s1" svc:startCondition="web"/><bpmn:startEvent id="s2" svc:startCondition="mobile"/>${nodes('exclusiveGateway:g endEvent:z')}${flows('s1>g s2>g g>z')}`,
      ),
    );
    expect(graph.starts.map((index) => graph.nodes[index]?.startCondition)).toEqual(['web', 'mobile']);
  });
});

describe('identity', () => {
  it('gives a node the same uuid in every later version', async () => {
    const before = await graphOf(bpmn(SIMPLE));
    const after = await graphOf(
      bpmn(nodes('startEvent:s userTask:a task:new endEvent:z') + flows('s>new new>a a>z'), {
        attributes: 'name="renamed"',
      }),
    );
    expect(after.svcUuid).toBe(before.svcUuid);
    expect(nodeOf(after, 'a').svcUuid).toBe(nodeOf(before, 'a').svcUuid);
    const all = [after.svcUuid, ...after.nodes.map(({ svcUuid }) => svcUuid)];
    expect(new Set(all).size).toBe(all.length);
  });

  it('uses uuids of the model', async () => {
    const process = '0198c1f0-7b1a-7c3e-8a55-0123456789ab';
    const node = '0198c1f0-7b1a-7c3e-8a55-0123456789AC';
    const graph = await graphOf(
      bpmn(
        `<bpmn:startEvent id="s"/><bpmn:task id="a" svc:uuid="${node}"/><bpmn:endEvent id="z"/>${flows('s>a a>z')}`,
        {
          attributes: `svc:uuid="${process}"`,
        },
      ),
    );
    expect(graph.svcUuid).toBe(process);
    expect(nodeOf(graph, 'a').svcUuid).toBe(node.toLowerCase());
  });

  it('differs between applications', async () => {
    const { ProcessCompiler } = await import('../../src/definitions/process-compiler.js');
    const compiler = new ProcessCompiler();
    const [one, other] = await Promise.all(
      ['app-1', 'app-2'].map((appId) => compiler.compile({ name: 'x', xml: bpmn(SIMPLE) }, { appId })),
    );
    expect(one?.definitions[0]?.svcUuid).not.toBe(other?.definitions[0]?.svcUuid);
  });
});
