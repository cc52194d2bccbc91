import { beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowCall } from '../../clients/typescript/src/index.js';
import { useConsole } from './support/console-world.js';
import { stoppedLoan } from './support/loans.js';

const MARKUP = '<img src=x onerror="document.title=1">';
const AT = '2026-01-31T10:20:30.123Z';

/** A conversation as the service tells it; there is no model here that would lead one. */
const CALLS: readonly WorkflowCall[] = [
  {
    key: '2/adviser/m1',
    kind: 'MODEL',
    request: {
      messages: [
        { role: 'system', content: `You advise. ${MARKUP}` },
        { role: 'user', content: `{"client":"${MARKUP}"}` },
      ],
      tools: ['everything__get-sum'],
    },
    response: {
      content: `First I add. ${MARKUP}`,
      calls: [{ id: 'c1', name: 'everything__get-sum', arguments: '{"a":1}' }],
      finishReason: 'tool_calls',
    },
    usage: { inputTokens: 1_832, outputTokens: 36, cost: 0.25 },
    outcome: 'OK',
    state: 'DONE',
  },
  {
    key: '2/adviser/m1.t1',
    kind: 'TOOL',
    request: { name: 'everything__get-sum', system: 'everything', tool: 'get-sum', arguments: { a: MARKUP } },
    response: { ok: false, error: `The tool was disabled. ${MARKUP}` },
    usage: null,
    outcome: 'TOOL_DISABLED',
    state: 'FAILED',
  },
].map(
  (call) => ({ tries: 1, startedAt: AT, finishedAt: AT, durationMs: 70, cut: [], ...call }) as WorkflowCall,
);

describe('Agent runs', () => {
  const world = useConsole();
  let stopped: string;
  beforeAll(async () => {
    await world().deliverSample();
    stopped = await stoppedLoan(await world().client(), 'Ada Example');
  });

  it('are found by filters', async () => {
    const tab = await world().as('admin', '/agent-runs');
    await tab.page.getByRole('link', { name: 'rate_application' }).waitFor();
    await tab.check('agent-runs');
    await tab.page.getByLabel('State').selectOption('FAILED');
    await tab.page.getByRole('link', { name: 'rate_application' }).waitFor({ state: 'detached' });
    await tab.page.getByRole('link', { name: 'advise_client' }).waitFor();
  });

  it('say where they stopped and why, from the instance on', async () => {
    const tab = await world().as('operator', `/instances/${stopped}`);
    await tab.page.getByRole('link', { name: 'Open the run' }).first().click();
    await tab.page.getByText('It stopped at Adviser').waitFor();
    await tab.page.getByText('It has called no model, no tool and no service.').waitFor();
    await tab.page.getByRole('tab', { name: /^Nodes/ }).click();
    await tab.page.getByRole('heading', { name: 'Adviser' }).waitFor();
    await tab.check('agent-run-nodes');
    await tab.page.getByRole('tab', { name: /^Facts/ }).click();
    await tab.check('agent-run-facts', { schemes: ['light'] });
  });

  it('are a conversation, in which nothing runs that a model or a tool has written', async () => {
    const { data } = await (
      await world().client()
    ).listWorkflowRuns({ query: { workflow: 'advise_client' } });
    const tab = await world().as('admin', '/agent-runs');
    await tab.page.route('**/calls?**', (route) => route.fulfill({ json: { calls: CALLS, next: null } }));
    await tab.open(`/agent-runs/${data.runs[0]?.id}`);
    await tab.page.getByText('First I add.', { exact: false }).waitFor();
    await tab.page.getByText('TOOL_DISABLED').waitFor();
    await tab.page.getByText('1,832').waitFor();
    await tab.page.getByText('What it is told to do').click();
    await tab.check('agent-run');
    expect(await tab.page.locator('main img').count()).toBe(0);
    expect(await tab.page.title()).toContain('advise_client');
  });

  it('are not offered to who may not read them', async () => {
    const tab = await world().as('clerk', '/agent-runs');
    await tab.page.getByText('This area is not open to you').waitFor();
  });
});
