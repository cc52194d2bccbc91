import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#engine/json';
import type { NodeExecutor, RunScope } from '../model/node-executor.js';
import { EXECUTED_NODE_TYPES } from '../../../../delivery/packages/schema/node-types.types.js';
import { BUILT_IN_EXECUTORS } from '../executors/built-in.executors.js';
import { NodeExecutorsService } from './node-executors.service.js';
import { RunJournal } from '../journal/run-journal.js';
import { WorkflowRunner } from './workflow-runner.js';
import { type RunnableNode, type RunnableWorkflow, type WorkflowTarget } from '../model/workflow.types.js';
import { WorkflowFailedError } from '../model/workflows.errors.js';
import { workflowLimits } from '../workflow.limits.js';

const TIME = new Date('2026-01-31T10:20:30.123Z');
const PLENTY = 1_048_576;
const LIMITS = { ...workflowLimits };

type Nodes = [id: string, type: string, members?: Partial<RunnableNode>][];

/** Creates a workflow whose nodes follow each other in order unless `outgoingSequences` says otherwise. */
function workflow(nodes: Nodes, members: Partial<RunnableWorkflow> = {}): RunnableWorkflow {
  return {
    name: 'rate',
    inputSchema: null,
    outputSchema: null,
    nodes: nodes.map(([id, type, rest = {}], index) => {
      const target = nodes[index + 1]?.[0];
      return {
        id,
        type,
        name: `${id} node`,
        conditions: [],
        outgoingSequences: target === undefined || type === 'END' ? [] : [sequence(id, target)],
        inputBody: null,
        outputBody: null,
        payload: null,
        responseKey: null,
        ...rest,
      };
    }),
    ...members,
  };
}

const sequence = (from: string, targetNodeId: string) => ({ id: `${from}-${targetNodeId}`, targetNodeId });

function branch(id: string, expression: string | null, nextNodeId: string, order = 0) {
  return { id, expression, nextNodeId, order, isDefault: expression === null };
}

interface Options {
  input?: JsonObject;
  nodesLeft?: number;
  limits?: Partial<typeof workflowLimits>;
  signal?: AbortSignal;
  executors?: readonly NodeExecutor[];
  parent?: string | null;
  subworkflow?: RunScope['subworkflow'];
}

/** Visit in the journal. */
interface RecordedVisit {
  nodeId: string;
  state: string;
  input: JsonValue;
  output: JsonValue;
  omitted: string[];
  missing: string[];
  error: unknown;
}

interface RunOutcome {
  output?: JsonValue;
  errorCode?: string | null;
  error?: unknown;
  records: readonly RecordedVisit[];
}

const recordsOf = (journal: RunJournal): RecordedVisit[] => JSON.parse(journal.text()) as RecordedVisit[];

async function run(definition: RunnableWorkflow, options: Options = {}): Promise<RunOutcome> {
  const { input = {}, executors = BUILT_IN_EXECUTORS, limits = {} } = options;
  Object.assign(workflowLimits, { recordValueBytes: PLENTY }, limits);
  const journal = new RunJournal();
  const scope: RunScope = {
    runId: 'run',
    buildId: 'build',
    payer: { appId: 'app', caller: null },
    appId: null,
    calls: { once: (_call, make) => make() },
    predefined: { processInstanceId: 'process-1', parentProcessInstanceId: options.parent ?? null },
    signal: options.signal ?? new AbortController().signal,
    budget: { nodesLeft: options.nodesLeft ?? 100 },
    subworkflow: options.subworkflow ?? (() => Promise.reject(new Error('no subworkflow was expected'))),
  };
  const tools = { executors, now: () => TIME };
  try {
    const result = await new WorkflowRunner(definition, input, scope, journal, tools).run();
    return { ...result, records: recordsOf(journal) };
  } catch (error) {
    return { error, records: recordsOf(journal) };
  } finally {
    Object.assign(workflowLimits, LIMITS);
  }
}

const failed = (code: string, members: Record<string, unknown> = {}) => ({
  error: expect.objectContaining({ code, ...members }) as unknown,
});
const START: Nodes[number] = ['start', 'START'];
const END: Nodes[number] = ['end', 'END'];

const mapped = (members: Partial<RunnableNode>) => workflow([START, ['map', 'DATA_MAPPING', members], END]);

const calling = (members: Partial<RunnableNode> = {}) =>
  workflow([
    START,
    [
      'call',
      'SUBWORKFLOW',
      {
        payload: { workflow: { appId: 'library', resourceName: 'score', resourceDefinitionId: 'id' } },
        responseKey: 'score',
        ...members,
      },
    ],
    END,
  ]);

const ending = (outputBody: string | null, outputSchema: JsonObject | null = null) =>
  workflow([START, ['end', 'END', { outputBody }]], { outputSchema });

const loop = (members: Partial<RunnableNode>) =>
  workflow([
    START,
    ['again', 'DATA_MAPPING', { ...members, outgoingSequences: [sequence('again', 'again')] }],
  ]);

describe('NodeExecutorsService', () => {
  const executorFor = (type: NodeExecutor['type']): NodeExecutor => ({
    type,
    takesInput: true,
    execute: async () => ({ result: null, next: { kind: 'SEQUENCE' } }),
  });

  it('requires one executor for each type that packages may use', () => {
    const executors = new NodeExecutorsService();
    executors.register(executorFor('REST_ENDPOINT'));
    expect(() => executors.onApplicationBootstrap()).toThrow('CUSTOM_AGENT');
    executors.register(executorFor('CUSTOM_AGENT'));
    executors.onApplicationBootstrap();
    expect(
      executors
        .list()
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(EXECUTED_NODE_TYPES.toSorted());
    expect(() => executors.register(executorFor('START'))).toThrow('START');
  });
});

describe('WorkflowRunner', () => {
  it('returns all data as output and records every node', async () => {
    const { output, records } = await run(workflow([START, END]), { input: { a: 1 } });
    expect(output).toEqual({ a: 1 });
    const times = { startedAt: TIME.toISOString(), finishedAt: TIME.toISOString() };
    const rest = { ...times, state: 'FINISHED', input: null, omitted: [], missing: [], error: null };
    expect(records).toEqual([
      { nodeId: 'start', name: 'start node', type: 'START', output: { a: 1 }, ...rest },
      { nodeId: 'end', name: 'end node', type: 'END', output: { a: 1 }, ...rest },
    ]);
  });

  describe('START', () => {
    const inputSchema = { required: ['a', 'b', 'toString'], properties: { b: { type: ['null', 'string'] } } };

    it('fails when the input does not match its model, and names the members', async () => {
      const ran = await run(workflow([START, END], { inputSchema }), { input: { c: 1 } });
      expect(ran).toMatchObject(
        failed('WORKFLOW_INPUT_INVALID', {
          node: 'start node',
          details: 'a: is required; b: is required; toString: is required',
        }),
      );
      expect(ran.records).toMatchObject([
        { nodeId: 'start', state: 'FAILED', error: { code: 'WORKFLOW_INPUT_INVALID' } },
      ]);
    });

    it('accepts null only if the model does', async () => {
      const definition = workflow([START, END], { inputSchema });
      const ran = await run(definition, { input: { a: null, b: null, toString: 1 } });
      expect(ran).toMatchObject(failed('WORKFLOW_INPUT_INVALID', { details: 'a: is required' }));
      expect(await run(definition, { input: { a: 0, b: null, toString: 1 } })).toHaveProperty('output');
    });

    it.each([
      ['uses an unknown keyword', { unevaluatedProperties: false }],
      ['requires endless work', { allOf: [{ $ref: '#' }] }],
    ])('fails when the model %s', async (_what, model) => {
      const ran = await run(workflow([START, END], { inputSchema: model }));
      expect(ran).toMatchObject(failed('WORKFLOW_INPUT_INVALID', { node: 'start node' }));
    });

    it.each<[string, Nodes]>([
      ['no', [END]],
      ['a second', [START, ['again', 'START'], END]],
    ])('fails with %s START', async (_what, nodes) => {
      expect(await run(workflow(nodes))).toMatchObject(failed('WORKFLOW_INVALID'));
    });
  });

  describe('CONDITION', () => {
    const forked = (...conditions: ReturnType<typeof branch>[]) =>
      workflow([
        START,
        ['fork', 'CONDITION', { conditions }],
        ['low', 'END', { outputBody: '"low"' }],
        ['high', 'END', { outputBody: '"high"' }],
        ['rest', 'END', { outputBody: '"rest"' }],
      ]);
    const rated = forked(
      branch('else', null, 'rest', 0),
      branch('second', 'score < 600', 'high', 2),
      branch('first', 'score < 300', 'low', 1),
    );

    it.each([
      [299, 'low'],
      [300, 'high'],
      [600, 'rest'],
    ])('follows the first condition that is true: %d is %s', async (score, expected) => {
      const ran = await run(rated, { input: { score } });
      expect(ran.output).toBe(expected);
      expect(ran.records.map(({ nodeId }) => nodeId)).toEqual(['start', 'fork', expected]);
    });

    it('records the chosen condition', async () => {
      const { records } = await run(rated, { input: { score: 1 } });
      expect(records[1]).toMatchObject({ output: { condition: 'first' } });
    });

    it('reads data through input, with names in brackets', async () => {
      const expression = 'input.rating.data.records[0].fields["Credit Score"] < 300';
      const input = { rating: { data: { records: [{ fields: { 'Credit Score': 299 } }] } } };
      const ran = await run(forked(branch('a', expression, 'low'), branch('b', null, 'high')), { input });
      expect(ran.output).toBe('low');
    });

    it.each([
      ['a field that is missing', 'scores < 300'],
      ['a value that is no boolean', 'score'],
      ['types that do not fit', 'score < "a"'],
      ['no expression', ''],
      ['a syntax error', 'score <'],
    ])('fails on %s and never takes the default', async (_what, expression) => {
      const ran = await run(forked(branch('a', expression, 'low'), branch('b', null, 'high', 1)), {
        input: { score: 1 },
      });
      expect(ran).toMatchObject(failed('CONDITION_FAILED', { node: 'fork node' }));
    });

    it('fails when nothing is true and there is no default', async () => {
      const ran = await run(forked(branch('a', 'false', 'low')));
      expect(ran).toMatchObject(failed('CONDITION_FAILED', { node: 'fork node' }));
    });

    it('fails when the next node does not exist', async () => {
      const ran = await run(forked(branch('a', 'true', 'toString')));
      expect(ran).toMatchObject(failed('NODE_NOT_FOUND', { node: 'fork node', details: 'toString' }));
    });
  });

  describe('DATA_MAPPING', () => {
    it('stores its result under the response key', async () => {
      const inputBody = '{"name": "Dear ${client.name}", "age": ${client.age}, "none": ${client.none}}';
      const { output, records } = await run(mapped({ inputBody, responseKey: 'letter.head' }), {
        input: { client: { name: 'A "B"', age: 30 } },
      });
      const made = { name: 'Dear A "B"', age: 30, none: null };
      expect(output).toEqual({ client: { name: 'A "B"', age: 30 }, letter: { head: made } });
      expect(records[1]).toMatchObject({ input: made, output: made, missing: ['client.none'] });
    });

    it('is merged into the data without one', async () => {
      const { output } = await run(mapped({ inputBody: '{"client": {"age": ${age}}}' }), {
        input: { client: { name: 'A' }, age: 30 },
      });
      expect(output).toEqual({ client: { name: 'A', age: 30 }, age: 30 });
    });

    it('requires an object for merging', async () => {
      expect(await run(mapped({ inputBody: '[1]' }))).toMatchObject(
        failed('NODE_RESULT_INVALID', { node: 'map node' }),
      );
    });

    it('uses the ids of the process even if the data has members of that name', async () => {
      const inputBody = '["${processInstanceId}", ${parentProcessInstanceId}]';
      const input = { processInstanceId: 'forged', parentProcessInstanceId: 'forged' };
      const ran = await run(mapped({ inputBody, responseKey: 'ids' }), { input });
      expect(ran.output).toEqual({ ...input, ids: ['process-1', null] });
      const child = await run(mapped({ inputBody, responseKey: 'ids' }), { parent: 'process-0' });
      expect(child.output).toEqual({ ids: ['process-1', 'process-0'] });
    });

    it('never expands inserted values', async () => {
      const { output } = await run(mapped({ inputBody: '"${a}"', responseKey: 'b' }), {
        input: { a: '${secret}', secret: 'x' },
      });
      expect(output).toMatchObject({ b: '${secret}' });
    });

    it.each([
      ['no JSON', '{"a": '],
      ['an expression that fails', '{"a": "${1 / 0}"}'],
      ['a reference without end', '{"a": "${a"}'],
      ['a prototype key', '{"__proto__": {"polluted": true}}'],
      ['a reference to a prototype', '{"a": "${a.constructor}"}'],
    ])('fails on a body that is %s', async (_what, inputBody) => {
      const ran = await run(mapped({ inputBody, responseKey: 'b' }), { input: { a: 1 } });
      expect(ran).toMatchObject(failed('NODE_INPUT_INVALID', { node: 'map node' }));
      expect(ran.records[1]).toMatchObject({ state: 'FAILED', output: null });
    });

    it.each(['__proto__', 'a.constructor.b', '[0]', 'a..b'])(
      'fails on the response key %s',
      async (responseKey) => {
        const ran = await run(mapped({ inputBody: '1', responseKey }));
        expect(ran).toMatchObject(failed('NODE_RESULT_INVALID', { node: 'map node' }));
        expect(({} as Record<string, unknown>)['b']).toBeUndefined();
      },
    );
  });

  describe('SUBWORKFLOW', () => {
    it('waits for the workflow and stores its output', async () => {
      const calls: [WorkflowTarget, JsonObject, string][] = [];
      const ran = await run(calling({ inputBody: '{"id": ${client}}' }), {
        input: { client: 7 },
        subworkflow: async (...call) => {
          calls.push(call);
          return { output: { rating: 'A' }, errorCode: null };
        },
      });
      expect(calls).toEqual([[{ appId: 'library', name: 'score' }, { id: 7 }, '2/call']]);
      expect(ran.output).toEqual({ client: 7, score: { rating: 'A' } });
    });

    it('passes all data without inputBody', async () => {
      const ran = await run(calling(), {
        input: { a: 1 },
        subworkflow: async (_target, input) => ({ output: input as JsonValue, errorCode: null }),
      });
      expect(ran.output).toEqual({ a: 1, score: { a: 1 } });
    });

    it('ends with the BPMN error that the subworkflow ends with', async () => {
      const result = { output: { reason: 'too much' }, errorCode: 'REJECTED' };
      const ran = await run(calling(), { subworkflow: () => Promise.resolve(result) });
      expect(ran).toMatchObject(result);
      expect(ran.records.map(({ nodeId, state }) => [nodeId, state])).toEqual([
        ['start', 'FINISHED'],
        ['call', 'FINISHED'],
      ]);
    });

    it('fails when the subworkflow fails', async () => {
      const cause = new WorkflowFailedError('SUBWORKFLOW_FAILED', 'It failed.');
      const ran = await run(calling(), { subworkflow: () => Promise.reject(cause) });
      expect(ran).toMatchObject(failed('SUBWORKFLOW_FAILED', { node: 'call node', message: 'It failed.' }));
      expect(ran.records.map(({ nodeId, state }) => [nodeId, state])).toEqual([
        ['start', 'FINISHED'],
        ['call', 'FAILED'],
      ]);
    });

    it('requires an object', async () => {
      expect(await run(calling({ inputBody: '"a"' }))).toMatchObject(failed('NODE_INPUT_INVALID'));
    });

    it.each([null, {}, { workflow: null }, { workflow: { resourceName: 1 } }])(
      'fails without a workflow: %j',
      async (payload) => {
        expect(await run(calling({ payload }))).toMatchObject(failed('SUBWORKFLOW_NOT_FOUND'));
      },
    );
  });

  describe('END', () => {
    it.each<[string | null, JsonValue]>([
      [null, { a: [1] }],
      [' ', { a: [1] }],
      ['{"b": ${a}, "c": "${processInstanceId}"}', { b: [1], c: 'process-1' }],
      ['${a}', [1]],
      ['null', null],
    ])('creates the output from %j', async (outputBody, expected) => {
      expect(await run(ending(outputBody), { input: { a: [1] } })).toMatchObject({ output: expected });
    });

    it.each<[string, string]>([
      ['{"a": 1}', 'b: is required'],
      ['{"a": ${nothing}}', 'b: is required; a: is required'],
      ['{"a": 1, "b": 2, "c": 3}', 'c: must be of type string'],
      ['[1]', '(all): must be of type object'],
    ])('fails when the output does not match its model: %s, %s', async (outputBody, details) => {
      const schema = { type: 'object', required: ['a', 'b'], properties: { c: { type: 'string' } } };
      const ran = await run(ending(outputBody, schema));
      expect(ran).toMatchObject(failed('WORKFLOW_OUTPUT_INVALID', { node: 'end node', details }));
    });
  });

  describe('flow', () => {
    it('fails at a type that this release does not support', async () => {
      const ran = await run(workflow([START, ['agent', 'CUSTOM_AGENT'], END]));
      expect(ran).toMatchObject(
        failed('NODE_TYPE_NOT_SUPPORTED', {
          node: 'agent node',
          message: 'This release does not run nodes of type CUSTOM_AGENT.',
        }),
      );
    });

    it('runs a type that has an executor', async () => {
      const executor: NodeExecutor = {
        type: 'CUSTOM_AGENT',
        takesInput: true,
        execute: async (_node, { input }) => ({ result: [input], next: { kind: 'SEQUENCE' } }),
      };
      const agent: Nodes[number] = ['agent', 'CUSTOM_AGENT', { inputBody: '"x"', responseKey: 'said' }];
      const executors = [...BUILT_IN_EXECUTORS, executor];
      expect(await run(workflow([START, agent, END]), { executors })).toMatchObject({
        output: { said: ['x'] },
      });
    });

    it.each<[string, string, Partial<RunnableNode>]>([
      ['nowhere', 'NODE_LEADS_NOWHERE', { outgoingSequences: [] }],
      ['to an unknown node', 'NODE_NOT_FOUND', { outgoingSequences: [sequence('map', '__proto__')] }],
      [
        'two ways',
        'WORKFLOW_INVALID',
        { outgoingSequences: [sequence('map', 'end'), sequence('map', 'start')] },
      ],
    ])('fails at a node that leads %s', async (_what, code, members) => {
      const ran = await run(
        workflow([START, ['map', 'DATA_MAPPING', { inputBody: '1', responseKey: 'a', ...members }], END]),
      );
      expect(ran).toMatchObject(failed(code, { node: 'map node' }));
    });

    it('is interrupted by other errors', async () => {
      const cause = new Error('the database is away');
      const ran = await run(
        workflow([START, ['call', 'SUBWORKFLOW', { payload: { workflow: { resourceName: 'a' } } }], END]),
        { subworkflow: () => Promise.reject(cause) },
      );
      expect(ran.error).toBe(cause);
    });

    it('is interrupted by the signal', async () => {
      const reason = new Error('the replica stops');
      expect((await run(workflow([START, END]), { signal: AbortSignal.abort(reason) })).error).toBe(reason);
    });
  });

  describe('limits', () => {
    it('limits the number of nodes', async () => {
      const ran = await run(loop({ inputBody: '1', responseKey: 'a' }), { nodesLeft: 7 });
      expect(ran).toMatchObject(failed('WORKFLOW_NODE_LIMIT', { node: 'again node' }));
      expect(ran.records.filter(({ error }) => error === null)).toHaveLength(7);
    });

    it('rejects input that is too large', async () => {
      const ran = await run(workflow([START, END]), {
        input: { a: 'x'.repeat(100) },
        limits: { dataBytes: 100 },
      });
      expect(ran).toMatchObject(failed('WORKFLOW_DATA_LIMIT'));
    });

    it.each<[string, Partial<RunnableNode>]>([
      ['by doubling', { inputBody: '["${a}", ${a}, ${a}]', responseKey: 'a' }],
      ['by array elements that are skipped', { inputBody: '1', responseKey: 'b[9999]' }],
      ['by merging', { inputBody: '{"b": [${a}, ${b}]}' }],
    ])('limits the size of data that grows %s', async (_what, members) => {
      const ran = await run(loop(members), {
        input: { a: 'x'.repeat(100), b: [] },
        limits: { dataBytes: 10_000 },
      });
      expect(ran.error).toMatchObject({ node: 'again node' });
      expect(['WORKFLOW_DATA_LIMIT', 'NODE_INPUT_INVALID']).toContain(
        (ran.error as WorkflowFailedError).code,
      );
    });

    it('limits the number of values', async () => {
      const ran = await run(loop({ inputBody: '[${a}, ${a}]', responseKey: 'a' }), {
        input: { a: [] },
      });
      expect(ran).toMatchObject(
        failed('WORKFLOW_DATA_LIMIT', {
          node: 'again node',
          message: 'The data of a run must have at most 50000 values.',
        }),
      );
    });

    it('shares one budget among all templates and conditions of a visit', async () => {
      const condition = 'l.exists(x, x < 0)';
      const conditions = Array.from({ length: 10 }, (_, order) =>
        branch(`c${order}`, condition, 'end', order),
      );
      const input = { l: Array.from({ length: 1_000 }, (_, index) => index) };
      const forked = (count: number) =>
        run(
          workflow([
            START,
            [
              'fork',
              'CONDITION',
              { conditions: [...conditions.slice(0, count), branch('d', null, 'end', 99)] },
            ],
            END,
          ]),
          { input },
        );
      expect(await forked(1)).toMatchObject({ output: input });
      expect(await forked(10)).toMatchObject(failed('CONDITION_FAILED', { node: 'fork node' }));
    });

    it('allows data to be overwritten any number of times', async () => {
      const ran = await run(loop({ inputBody: '"${a}"', responseKey: 'b' }), {
        input: { a: 'x'.repeat(4_000) },
        limits: { dataBytes: 10_000 },
      });
      expect(ran).toMatchObject(failed('WORKFLOW_NODE_LIMIT'));
    });

    it.each(['a', 'a.b.c.d.e'])('limits the depth of data written to %s', async (responseKey) => {
      const ran = await run(loop({ inputBody: '{"in": ${a}}', responseKey }), { nodesLeft: 200 });
      expect(ran).toMatchObject(failed('WORKFLOW_DATA_LIMIT', { node: 'again node' }));
    });

    it('rejects output that is too large', async () => {
      const outputBody = JSON.stringify(Array.from({ length: 100 }, () => 1));
      const ran = await run(workflow([START, ['end', 'END', { outputBody }]]), {
        limits: { dataBytes: 100 },
      });
      expect(ran).toMatchObject(failed('WORKFLOW_DATA_LIMIT', { node: 'end node' }));
    });

    it('stops expressions that take too long', async () => {
      const conditions = [branch('a', 'l.all(x, l.all(y, x + y >= 0))', 'end')];
      const ran = await run(workflow([START, ['fork', 'CONDITION', { conditions }], END]), {
        input: { l: Array.from({ length: 1_000 }, (_, index) => index) },
      });
      expect(ran).toMatchObject(failed('CONDITION_FAILED', { node: 'fork node' }));
    });

    it('yields the event loop between nodes', async () => {
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 0);
      await run(loop({ inputBody: '1', responseKey: 'a' }), { nodesLeft: 5_000 });
      clearInterval(timer);
      expect(turns).toBeGreaterThan(1);
    });
  });

  describe('the journal', () => {
    const nodes: Nodes = [START, ['map', 'DATA_MAPPING', { inputBody: '"${a}"', responseKey: 'b' }], END];
    const input = { a: 'x'.repeat(100) };

    it('omits values that are too large and lists them', async () => {
      const { records, output } = await run(workflow(nodes), { input, limits: { recordValueBytes: 105 } });
      expect(records.map(({ input, output, omitted }) => [input, output, omitted])).toEqual([
        [null, null, ['output']],
        [input.a, input.a, []],
        [null, null, ['output']],
      ]);
      expect(output).toEqual({ ...input, b: input.a });
    });

    it('limits its total size', async () => {
      const { records } = await run(workflow(nodes), { input, limits: { recordBytes: 230 } });
      expect(records.map(({ omitted }) => omitted)).toEqual([[], ['output'], ['output']]);
    });

    it('limits the number of missing references', async () => {
      const references = Array.from({ length: 50 }, (_, index) => `\${missing.${'x'.repeat(300)}${index}}`);
      const inputBody = JSON.stringify(references);
      const { records } = await run(
        workflow([START, ['map', 'DATA_MAPPING', { inputBody, responseKey: 'b' }], END]),
      );
      expect(records[1]?.missing).toHaveLength(20);
      expect(records[1]?.missing[0]).toHaveLength(200);
    });
  });
});
