import { setTimeout as sleep } from 'node:timers/promises';
import { connectionTestPath, createPath } from '../../../test/support/factories.js';
import { sequence, workflowOf } from '../../../test/support/runtime/publish.js';
import { processWithCondition, starts, type Attack, type Attacker } from './stall-attacks.js';

/** Base URLs of external parties with costly responses, see stall-peers.process.ts. */
export interface CostlyPeers {
  readonly costly: string;
  readonly large: string;
  readonly tools: string;
  readonly model: string;
  readonly rest: string;
  readonly tls: string;
}

type Members = Record<string, unknown>;

const POLL_MS = 20;
const RUNS = '/rtm/api/runtime/workflow-run';
/** A schema that is expensive for each member of an answer. */
const COSTLY_ANSWER = {
  type: 'object',
  properties: {
    items: { type: 'array', uniqueItems: true, items: { anyOf: [{ minItems: 1 }, { type: 'string' }] } },
  },
  required: ['items', 'verdict'],
};
/** Size of a node's template, slightly below its limits. */
const TEMPLATE_VALUES = 45_000;
const KEPT_ANSWERS = 100;
const UNKNOWN_FIELDS = 16_000;
const NODES = 40;
const CONDITIONS = 20;
/** Unicode scripts. Building the table of one takes up to 100 ms. */
const CLASSES = [
  'Greek',
  'Han',
  'Latin',
  'Cyrillic',
  'Arabic',
  'Thai',
  'Hebrew',
  'Tamil',
  'Khmer',
  'Lao',
  'Common',
  'Gothic',
];

/** Returns an attack that runs one workflow several times concurrently, each until it ends. */
function workflowRuns(name: string, count: number, members: () => Members, before?: Prepares): Attack {
  return {
    name,
    prepare: async (attacker) => {
      const path = await attacker.publishWorkflow(JSON.stringify(members()), before);
      return () => Promise.all(Array.from({ length: count }, () => runToEnd(attacker, path)));
    },
  };
}

type Prepares = (attacker: Attacker, version: string) => Promise<unknown>;

/** Runs a workflow until it ends. Returns the id of the run. */
async function runToEnd(attacker: Attacker, path: string): Promise<string> {
  const { text } = await attacker.send('POST', path, '{"items":[1,2,3],"n":0}');
  const { workflowRunId } = JSON.parse(text) as { workflowRunId: string };
  for (let state = 'STARTED'; state === 'STARTED'; await sleep(POLL_MS)) {
    const run = await attacker.send('GET', `${RUNS}/${workflowRunId}`);
    ({ state } = JSON.parse(run.text) as { state: string });
  }
  return workflowRunId;
}

const restSystem = (baseUrl: string): Members => ({
  systems: [{ resourceName: 'Costly', type: 'REST', name: 'Costly', baseUrl }],
});

const restCall = (id: string, path: string): Members => ({
  id,
  type: 'REST_ENDPOINT',
  responseKey: 'answer',
  payload: { system: { resourceName: 'Costly' }, method: 'GET', path },
});

const flowOf = (nodes: Members[]): Members => ({
  workflows: [workflowOf('flow', nodes, { end: { outputBody: '{}' } })],
});

/** Returns attacks by external parties of a run and by its author that once stalled the service. */
export function workflowAttacks({ tools, rest, tls }: CostlyPeers): readonly Attack[] {
  return [
    workflowRuns('answers of a REST system', 4, () => ({
      ...restSystem(rest),
      ...flowOf(['most', 'text', 'numbers', 'names', 'beyond'].map((name) => restCall(name, `/${name}`))),
    })),
    workflowRuns('long chains of certificates', 8, () => ({
      ...restSystem(tls),
      ...flowOf([restCall('call', '/')]),
    })),
    {
      name: 'reading a run of large answers',
      prepare: async (attacker) => {
        const nodes = Array.from({ length: KEPT_ANSWERS }, (_, index) => restCall(`n${index}`, '/kept'));
        const path = await attacker.publishWorkflow(
          JSON.stringify({ ...restSystem(rest), ...flowOf(nodes) }),
        );
        const run = await runToEnd(attacker, path);
        const reads = [`${RUNS}/${run}/calls?limit=100`, `${RUNS}/${run}`];
        return () => Promise.all([...reads, ...reads].map((read) => attacker.send('GET', read)));
      },
    },
    {
      name: 'bodies of many unknown fields',
      prepare: (attacker) => {
        const names = Array.from({ length: UNKNOWN_FIELDS }, (_, index) => `"n${index}":0`);
        const path = createPath(attacker.appId, 'v1');
        return Promise.resolve(() =>
          Promise.all(Array.from({ length: 8 }, () => attacker.send('PATCH', path, `{${names.join()}}`))),
        );
      },
    },
    workflowRuns(
      'arguments, results and answers of an agent',
      4,
      () => ({
        systems: [{ resourceName: 'tools', type: 'MCP', name: 'Tools', baseUrl: tools }],
        ...flowOf([
          {
            id: 'agent',
            type: 'CUSTOM_AGENT',
            responseKey: 'advice',
            aiOptions: {
              aiType: 'CUSTOM_AGENT',
              operationPrompt: 'Advise.',
              exampleOutputJsonSchema: COSTLY_ANSWER,
              mcpServers: [{ resourceName: 'tools' }],
            },
          },
        ]),
      }),
      (attacker, version) =>
        attacker.send(
          'PATCH',
          connectionTestPath(attacker.appId, version),
          JSON.stringify({ baseUrl: tools, authorization: { type: 'NO_AUTH' } }),
        ),
    ),
    workflowRuns('templates of a workflow', 4, () =>
      flowOf(
        Array.from({ length: NODES }, (_, index) => ({
          id: `map${index}`,
          type: 'DATA_MAPPING',
          inputBody: `[${'[],'.repeat(TEMPLATE_VALUES)}${index}]`,
          responseKey: 'made',
        })),
      ),
    ),
    workflowRuns('conditions of a workflow', 4, () =>
      flowOf(Array.from({ length: NODES }, (_, index) => costlyChoice(index))),
    ),
    {
      name: 'patterns from data',
      prepare: async (attacker) => {
        const path = await attacker.publish(
          'p',
          processWithCondition('p', 'items.all(x, string(x).matches(x))'),
        );
        const items = CLASSES.map((name) => `(?i)[\\p{${name}}]*\\p{${name}}b?`);
        return starts(attacker, path, JSON.stringify({ items }), 8);
      },
    },
  ];
}

/** Returns a node with many false conditions, each of maximum cost. */
function costlyChoice(index: number): Members {
  const id = `choose${index}`;
  const next = index + 1 < NODES ? `choose${index + 1}` : 'end';
  const costly = `items.map(x, items.map(y, 'aaaaaaaaaa'.matches('(?i)[\\\\pL]*[\\\\pL]*b'))).size() < ${-index}`;
  const conditions = Array.from({ length: CONDITIONS }, (_, order) => ({
    id: `c${order}`,
    expression: `${costly} - ${order}`,
    nextNodeId: 'end',
    order,
    isDefault: false,
  }));
  const otherwise = { id: 'else', expression: null, nextNodeId: next, order: CONDITIONS, isDefault: true };
  return {
    id,
    type: 'CONDITION',
    conditions: [...conditions, otherwise],
    outgoingSequences: [...new Set([next, 'end'])].map((target) => sequence(id, target)),
  };
}
