import { beforeAll, describe, expect, it } from 'vitest';
import { useConsole } from './support/console-world.js';
import { startOwnLoan } from './support/loans.js';

describe('Tasks', () => {
  const world = useConsole();
  beforeAll(() => world().deliverSample());

  it('lead a person without permissions from the start of a process to its end', async () => {
    const tab = await world().as('clerk', '/tasks');
    await tab.page.getByText('Nothing waits for you.').waitFor();
    await tab.page.getByRole('link', { name: 'Start a process' }).click();
    await tab.page.getByLabel('Id of the application').fill('sample');
    await tab.page.getByRole('button', { name: 'Show processes' }).click();
    await tab.page.getByRole('button', { name: 'Start loan_onboarding' }).click();
    await tab.check('task-start', { schemes: ['light'] });
    const start = tab.page.getByRole('button', { name: 'Start', exact: true });
    await start.click();
    await tab.page.getByText('Something in it is not right').waitFor();
    await tab.page.getByLabel('name').fill('<img src=x onerror="document.title=1">');
    await start.click();

    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
    await tab.check('task');
    for (const [label, value] of [
      ['amount', '20000'],
      ['months', '48'],
      ['income', '5200'],
    ] as const) {
      await tab.page.getByLabel(label).fill(value);
    }
    await tab.page.getByRole('button', { name: 'submit_application' }).click();
    await tab.page.getByText('submit_application is done.').waitFor();
    // What comes next appears by itself.
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();
    await tab.page.getByRole('heading', { name: 'Go back: submit_application' }).waitFor();
    await tab.check('task-next', { schemes: ['light'] });
    await tab.page.getByRole('button', { name: 'accept_offer' }).click();
    await tab.page.getByText('The process has ended', { exact: false }).waitFor();
    await tab.page.getByRole('link', { name: 'Open the instance' }).click();
    await tab.page.locator('.page-head').getByText('finished').waitFor();
    expect(await tab.page.locator('main img').count()).toBe(0);
  });

  it('are listed with what can be done', async () => {
    const tab = await world().as('clerk', '/tasks');
    await startOwnLoan(tab, 'Listed Example');
    await tab.open('/tasks');
    await tab.page.getByText('submit_application').first().waitFor();
    await tab.check('tasks');
    await tab.page.getByRole('link', { name: 'Complete application' }).first().click();
    await tab.page.getByRole('button', { name: 'submit_application' }).waitFor();
    await tab.open('/');
    await tab.page.getByRole('link', { name: 'Complete application' }).first().waitFor();
  });

  it('say in a sentence what is wrong, and keep what was typed', async () => {
    const tab = await world().as('clerk', '/tasks');
    await startOwnLoan(tab, 'Wrong Example');
    await tab.page.getByLabel('amount').fill('20000');
    await tab.page.getByRole('button', { name: 'submit_application' }).click();
    await tab.page.getByText('Something in it is not right').waitFor();
    expect(await tab.page.getByLabel('amount').inputValue()).toBe('20000');
    await tab.page.route('**/execute', (route) => route.abort());
    await tab.page.getByRole('button', { name: 'submit_application' }).click();
    await tab.page.getByText('The service does not answer').waitFor();
    expect(await tab.page.getByLabel('amount').inputValue()).toBe('20000');
  });

  it('are not shown to others', async () => {
    const uuid = await startOwnLoan(await world().as('clerk', '/tasks'), 'Private Example');
    const tab = await world().as('integrator', `/tasks/${uuid}`);
    await tab.page.getByText('Nothing waits for you here now.').waitFor();
  });
});
