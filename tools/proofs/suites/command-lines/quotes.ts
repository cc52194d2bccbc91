import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  flows,
  node,
  processFile,
  serviceTask,
  timerEvent,
  userTask,
} from '../../../../test/support/runtime/process-files.js';

const WORKFLOW = {
  name: 'price',
  description: 'Asks the price list.',
  inputSchema: null,
  outputSchema: null,
  nodes: [
    { id: 'start', type: 'START', name: 'Start', outgoingSequences: [sequence('start', 'ask')] },
    {
      id: 'ask',
      type: 'REST_ENDPOINT',
      name: 'Ask',
      responseKey: 'answer',
      inputBody: '{ "pieces": ${pieces} }',
      payload: { system: { resourceName: 'prices' }, method: 'POST', path: '/quotes/${article}' },
      outgoingSequences: [sequence('ask', 'end')],
    },
    { id: 'end', type: 'END', name: 'End', outputBody: '{ "price": ${answer.data.price} }' },
  ],
};

const PROCESS = processFile(
  'quote',
  [
    node('startEvent', 'start'),
    serviceTask('ask', [{ name: 'ask', kind: 'startWorkflow', workflow: 'price', resultKey: 'quote' }]),
    userTask('confirm', { actions: [{ name: 'done', manual: true, keys: 'confirmed' }] }),
    node('boundaryEvent', 'late', timerEvent('timeDuration', 'P2D'), 'attachedToRef="confirm"'),
    node('intermediateCatchEvent', 'wait', timerEvent('timeDuration', 'P3D')),
    node('endEvent', 'end'),
    node('endEvent', 'lapsed'),
    flows('start>ask ask>confirm confirm>end late>wait wait>lapsed'),
  ].join('\n'),
);

/** A process that starts three times, once per hour. */
export const HOURLY = processFile(
  'hourly',
  [
    node('startEvent', 'start', timerEvent('timeCycle', 'R3/PT1H')),
    node('endEvent', 'end'),
    flows('start>end'),
  ].join('\n'),
);

/** A process whose task repeats after background work until the data suffice. */
export const COUNTED = processFile(
  'counted',
  [
    node('startEvent', 'start'),
    userTask('count', {
      actions: [
        { name: 'add', manual: true, keys: 'enough', autoRunChildren: true, allowBack: 'explicit' },
        { name: 'noted', parent: 'add', delay: 'PT0S', inner: '<svc:data>{"noted": true}</svc:data>' },
      ],
    }),
    node('exclusiveGateway', 'which', '', 'default="which_count"'),
    userTask('check'),
    node('endEvent', 'end'),
    flows('start>count count>which which>count which>check[enough] check>end'),
  ].join('\n'),
);

/**
 * Writes an application with a REST call and consecutive timers to a new folder.
 * @param files files that replace those of the application
 */
export async function quotesFolder(files: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-quotes-'));
  const all = {
    'application.json': JSON.stringify({ formatVersion: 1, appId: 'quotes', name: 'Quotes' }),
    'systems/prices.json': JSON.stringify({
      resourceName: 'prices',
      name: 'Prices',
      type: 'REST',
      baseUrl: 'https://prices.example.com',
      authorization: { type: 'API_KEY', configuration: {} },
    }),
    'workflows/price.json': JSON.stringify(WORKFLOW),
    'processes/quote.bpmn': PROCESS,
    ...files,
  };
  for (const part of ['systems', 'workflows', 'processes']) {
    await mkdir(join(folder, part));
  }
  for (const [path, text] of Object.entries(all)) {
    await writeFile(join(folder, path), text);
  }
  return folder;
}

function sequence(from: string, to: string): object {
  return { id: `${from}-${to}`, sourceNodeId: from, targetNodeId: to };
}
