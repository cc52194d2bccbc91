import { randomBytes } from 'node:crypto';
import { workflowOf } from '../../../test/support/runtime/publish.js';
import { flows, node, processFile, userTask } from '../../../test/support/runtime/process-files.js';
import type { Attack, Attacker } from './stall-attacks.js';

type Members = Record<string, unknown>;

/** Slightly below the default limit of a package. */
const PACKAGE_BYTES = 8_000_000;
const PROMPT_BYTES = 60_000;
const NODES_PER_WORKFLOW = 498;
const SHORT_PROMPT_BYTES = 500;
const TASKS_PER_PROCESS = 800;

const agent = (id: string, prompt: string, properties: Members = {}): Members => ({
  id,
  type: 'CUSTOM_AGENT',
  responseKey: 'advice',
  aiOptions: {
    aiType: 'CUSTOM_AGENT',
    operationPrompt: prompt,
    exampleOutputJsonSchema: { type: 'object', properties },
    mcpServers: [{ resourceName: 'tools' }],
  },
});

/** Returns text that cannot be compressed. */
const randomText = (bytes: number): string => randomBytes(Math.ceil((bytes * 3) / 4)).toString('base64');

const systems = [{ resourceName: 'tools', type: 'MCP', name: 'Tools', baseUrl: 'http://127.0.0.1:1/mcp' }];

/** Returns as many parts as fit into a package. */
function asManyOf<Part>(make: (index: number) => Part): Part[] {
  const count = Math.floor(PACKAGE_BYTES / (Buffer.byteLength(JSON.stringify(make(0))) + 10));
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Returns a package with one workflow of long texts. */
export const longPrompts = (): Members => ({
  systems,
  workflows: [
    workflowOf(
      'flow',
      asManyOf((index) => agent(`n${index}`, randomText(PROMPT_BYTES))),
    ),
  ],
});

/** Returns a package with workflows of the maximum number of agents. */
export const manyAgents = (): Members => ({
  systems,
  workflows: asManyOf((index) =>
    workflowOf(
      index === 0 ? 'flow' : `flow${index}`,
      Array.from({ length: NODES_PER_WORKFLOW }, (_, id) =>
        agent(`n${id}`, '\u{1f600}'.repeat(SHORT_PROMPT_BYTES / 4), { a: {}, b: {}, c: { items: {} } }),
      ),
    ),
  ),
});

/** Returns a package with files of the maximum number of tasks, and a workflow. */
export const manyTasks = (): Members => {
  const ids = Array.from({ length: TASKS_PER_PROCESS }, (_, index) => `a${index}`);
  const tasks = ids.map((id) => userTask(id)).join('');
  return {
    systems,
    workflows: [workflowOf('flow', [agent('n0', 'x')])],
    processes: asManyOf((index) => ({
      file: `processes/p${index}.bpmn`,
      bpmn: processFile(
        `p${index}`,
        `${node('startEvent', 'start')}${tasks}${node('endEvent', 'end')}${flows(
          ['start', ...ids, 'end']
            .map((id, at, all) => `${id}>${all[at + 1] ?? ''}`)
            .slice(0, -1)
            .join(' '),
        )}`,
      ),
    })),
  };
};

/** Delivers a package and performs all operations of an author on it. */
async function useAsAuthor(attacker: Attacker, members: string): Promise<void> {
  const { path, status, text } = await attacker.deliver(members);
  if (status >= 300) {
    throw new Error(text.slice(0, 1_000));
  }
  const one = `${path}/workflow/flow/node/n0`;
  const { text: shown } = await attacker.send('GET', one);
  await Promise.all(
    [`${path}/package`, `${path}/workflow`, `${path}/workflow/flow`, `${path}/agent-preflight`].map((read) =>
      attacker.send('GET', read),
    ),
  );
  await attacker.send('PUT', one, JSON.stringify({ ...(JSON.parse(shown) as Members), name: 'other' }));
  await attacker.send('POST', `${path}/commit`);
  const { text: made } = await attacker.send('POST', `${path}/build`);
  const { buildId } = JSON.parse(made) as { buildId: string };
  const [application = ''] = path.split('/app-version/');
  await attacker.send('GET', `${application}/build/${buildId}/agent-preflight`);
  await attacker.send('PUT', `${application}/active-build`, JSON.stringify({ buildId }));
}

/** Attacks with large valid packages that once stalled the service. */
export const PACKAGE_ATTACKS: readonly Attack[] = Object.entries({
  'valid packages of long texts': longPrompts,
  'valid packages of many agents': manyAgents,
  'valid packages of many tasks': manyTasks,
}).map(([name, members]) => ({
  name,
  prepare: (attacker) => {
    const text = JSON.stringify(members());
    return Promise.resolve(() => useAsAuthor(attacker, text));
  },
}));
