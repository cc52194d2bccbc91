import { beforeAll, describe, expect, it } from 'vitest';
import { useConsole } from './support/console-world.js';
import { CALLS } from './support/conversation.js';
import { stoppedLoan } from './support/loans.js';

describe('Agent runs', () => {
  const world = useConsole();
  let stopped: string;
  beforeAll(async () => {
    await world().deliverSample();
    stopped = await stoppedLoan(await world().client(), 'Ada Example');
  });

  it('can be filtered', async () => {
    const tab = await world().as('admin', '/agent-runs');
    await tab.page.getByRole('link', { name: 'rate_application' }).waitFor();
    await tab.check('agent-runs');
    await tab.page.getByLabel('State').selectOption('FAILED');
    await tab.page.getByRole('link', { name: 'rate_application' }).waitFor({ state: 'detached' });
    await tab.page.getByRole('link', { name: 'advise_client' }).waitFor();
  });

  it('show where and why they stopped', async () => {
    const tab = await world().as('operator', `/instances/${stopped}`);
    await tab.page.getByRole('link', { name: 'Open the run' }).first().click();
    await tab.page.getByText('The run stopped at Adviser').waitFor();
    await tab.page.getByText('The run has called no models, tools or services.').waitFor();
    await tab.page.getByRole('tab', { name: /^Nodes/ }).click();
    await tab.page.getByRole('heading', { name: 'Adviser' }).waitFor();
    await tab.check('agent-run-nodes');
    await tab.page.getByRole('tab', { name: /^Facts/ }).click();
    await tab.check('agent-run-facts', { schemes: ['light'] });
  });

  it('show the conversation with output of models and tools as text', async () => {
    const { data } = await (
      await world().client()
    ).listWorkflowRuns({ query: { workflow: 'advise_client' } });
    const tab = await world().as('admin', '/agent-runs');
    await tab.page.route('**/calls?**', (route) => route.fulfill({ json: { calls: CALLS, next: null } }));
    await tab.open(`/agent-runs/${data.runs[0]?.id}`);
    await tab.page.getByText('First I add.', { exact: false }).waitFor();
    await tab.page.getByText('TOOL_DISABLED').waitFor();
    await tab.page.getByText('1,832').waitFor();
    await tab.page.getByText('System prompt').click();
    await tab.check('agent-run');
    expect(await tab.page.locator('main img').count()).toBe(0);
    expect(await tab.page.title()).toContain('advise_client');
  });

  it('are not available without process-read', async () => {
    const tab = await world().as('clerk', '/agent-runs');
    await tab.page.getByText('You have no access to this area').waitFor();
  });
});
