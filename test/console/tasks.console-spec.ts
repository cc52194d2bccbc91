import { beforeAll, describe, expect, it } from 'vitest';
import { useConsole } from './support/console-world.js';
import {
  flows,
  node,
  processFile,
  taskProcess,
  timerEvent,
  userTask,
} from '../support/runtime/process-files.js';
import { deliverProcess, startOwnLoan, stoppedLoan } from './support/loans.js';

describe('Tasks', () => {
  const world = useConsole();
  beforeAll(() => world().deliverSample());

  it('lead a user without permissions from the start of a process to its end', async () => {
    const tab = await world().as('clerk', '/tasks');
    await tab.page.getByText('Nothing is waiting for you.').waitFor();
    await tab.page.getByRole('link', { name: 'Start a process' }).click();
    await tab.page.getByLabel('Application id').fill('sample');
    await tab.page.getByRole('button', { name: 'Show processes' }).click();
    await tab.page.getByRole('button', { name: 'Start loan_onboarding' }).click();
    await tab.check('task-start', { schemes: ['light'] });
    const start = tab.page.getByRole('button', { name: 'Start', exact: true });
    await start.click();
    await tab.page.getByText('The input is invalid').waitFor();
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
    // The next task appears without a reload.
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();
    await tab.page.getByRole('heading', { name: 'Go back: submit_application' }).waitFor();
    await tab.check('task-next', { schemes: ['light'] });
    await tab.page.getByRole('button', { name: 'accept_offer' }).click();
    await tab.page.getByText('The process has ended', { exact: false }).waitFor();
    await tab.page.getByRole('link', { name: 'Open the instance' }).click();
    await tab.page.locator('.page-head').getByText('finished').waitFor();
    expect(await tab.page.locator('main img').count()).toBe(0);
  });

  it('are listed with their actions', async () => {
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

  it('explain errors and keep the input', async () => {
    const tab = await world().as('clerk', '/tasks');
    await startOwnLoan(tab, 'Wrong Example');
    await tab.page.getByLabel('amount').fill('20000');
    await tab.page.getByRole('button', { name: 'submit_application' }).click();
    await tab.page.getByText('The input is invalid').waitFor();
    expect(await tab.page.getByLabel('amount').inputValue()).toBe('20000');
    await tab.page.route('**/execute', (route) => route.abort());
    await tab.page.getByRole('button', { name: 'submit_application' }).click();
    await tab.page.getByText('The service does not answer').waitFor();
    expect(await tab.page.getByLabel('amount').inputValue()).toBe('20000');
  });

  it('send nothing if a field is invalid, and show which one', async () => {
    const tab = await world().as('clerk', '/tasks');
    await startOwnLoan(tab, 'Faulty Example');
    let sent = 0;
    tab.page.on('request', (request) => {
      sent += request.url().endsWith('/execute') ? 1 : 0;
    });
    const alert = tab.page.getByRole('alert');
    const submit = tab.page.getByRole('button', { name: 'submit_application' });
    await tab.page.getByLabel('amount').fill('much');
    await tab.page.getByLabel('months').fill('1,5');
    await tab.page.getByLabel('income').fill('5200');
    await submit.click();
    await alert.getByText(/^amount.*: This must be a number\.$/).waitFor();
    await alert.getByText(/^months.*: This must be a (whole )?number\.$/).waitFor();
    await tab.check('task-faults', { schemes: ['light'] });
    await tab.page.getByLabel('amount').fill('20000');
    await tab.page.getByLabel('months').fill('48');
    await alert.waitFor({ state: 'detached' });
    expect(sent).toBe(0);
    await submit.click();
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();

    const accepted = tab.page.locator('form').filter({ hasText: 'accept_offer' });
    await accepted.getByText('Add data').click();
    for (const [text, fault] of [
      ['{"remark":', 'This must be JSON.'],
      ['[1]', 'This must be a JSON object, in braces.'],
    ] as const) {
      await accepted.getByLabel('Data').fill(text);
      await accepted.getByRole('button').click();
      await accepted.getByRole('alert').getByText(fault).waitFor();
    }
    expect(sent).toBe(1);
    await accepted.getByLabel('Data').fill('{}');
    await accepted.getByRole('button').click();
    await tab.page.getByText('The process has ended', { exact: false }).waitFor();
  });

  it('have no fields if no data is accepted, and one JSON field if any object is', async () => {
    const svc = await world().client();
    const anything = { uiActions: { done: '<svc:bodySchema>{ "type": "object" }</svc:bodySchema>' } };
    await deliverProcess(
      svc,
      'bare',
      taskProcess('bare', node('userTask', 'sign'), userTask('tell', anything)),
    );
    const tab = await world().as('clerk', '/tasks/start?app=bare&process=bare');
    await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'sign: complete' }).waitFor();
    expect(await tab.page.locator('form').locator('input, textarea').count()).toBe(0);
    await tab.page.getByRole('button', { name: 'complete' }).click();
    await tab.page.getByRole('heading', { name: 'tell: done' }).waitFor();
    await tab.page.getByLabel('Data', { exact: true }).fill('{');
    await tab.page.getByRole('button', { name: 'done' }).click();
    await tab.page
      .getByRole('alert')
      .getByText(/^Data: This must be JSON/)
      .waitFor();
    await tab.page.getByLabel('Data', { exact: true }).fill('{}');
    await tab.page.getByRole('button', { name: 'done' }).click();
    await tab.page.getByText('The process has ended', { exact: false }).waitFor();
  });

  it('offer to go back if nothing else can be done, and say why nothing is waiting', async () => {
    const svc = await world().client();
    const back = { actions: [{ name: 'done', manual: true, keys: '*', allowBack: true }] };
    const rest = node('intermediateCatchEvent', 'rest', timerEvent('timeDuration', 'P1D'));
    await deliverProcess(svc, 'rest', taskProcess('resting', userTask('enter', back), rest));
    const tab = await world().as('admin', '/tasks/start?app=rest&process=resting');
    await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
    await tab.page.getByRole('link', { name: 'Open the instance' }).click();
    const uuid = tab.page.url().split('/').at(-1) ?? '';
    await tab.page.getByRole('link', { name: 'Continue the task' }).click();
    await tab.page.getByRole('button', { name: 'done' }).click();
    await tab.page
      .getByText('The process is running or waits for something else.', { exact: false })
      .waitFor();
    await tab.page.getByRole('link', { name: 'Open the instance' }).click();
    await tab.page.getByRole('link', { name: 'Go back to an earlier step' }).click();
    await tab.page.getByRole('heading', { name: 'Go back: done' }).waitFor();
    await tab.check('task-back');
    await tab.page.getByRole('button', { name: 'done' }).click();
    await tab.page.getByText('The process went back: done.').waitFor();
    expect(await tab.page.getByText('done is done.').count()).toBe(0);
    await tab.page.getByRole('heading', { name: 'enter: done' }).waitFor();

    await svc.holdProcessInstance({ path: { uuid } });
    await tab.page.getByText('The instance is on hold.', { exact: false }).waitFor();
    await tab.open(`/tasks/${await stoppedLoan(svc, 'Stopped Example')}`);
    await tab.page.getByText('The process has stopped at an incident.', { exact: false }).waitFor();
    await tab.check('task-stopped');
  });

  it('send the visit that was shown, and report that nothing was submitted if the token has moved on', async () => {
    const tab = await world().as('clerk', '/tasks');
    await startOwnLoan(tab, 'Stale Example');
    for (const label of ['amount', 'months', 'income']) {
      await tab.page.getByLabel(label).fill('48');
    }
    const sent: (string | undefined)[] = [];
    await tab.page.route('**/execute', (route) => {
      const headers = route.request().headers();
      sent.push(headers['if-match']);
      return route.continue({ headers: { ...headers, 'if-match': '"1"' } });
    });
    await tab.page.getByRole('button', { name: 'submit_application' }).click();
    await tab.page.getByRole('alert').getByText('nothing was submitted', { exact: false }).waitFor();
    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
    expect(sent).toEqual(['"2"']);
  });

  it('show their instance on cards, and report an unknown instance', async () => {
    const tab = await world().as('admin', '/tasks');
    const uuid = await startOwnLoan(tab, 'Card Example');
    await tab.open('/tasks');
    await tab.page.setViewportSize({ width: 390, height: 900 });
    const card = tab.page.getByRole('row').filter({ hasText: uuid });
    await card.getByText('sample', { exact: true }).waitFor();
    await card.getByText('submit_application').waitFor();
    await card.getByText(uuid).waitFor();
    await tab.open(`/tasks/${crypto.randomUUID()}`);
    await tab.page.getByText('There is no such instance', { exact: false }).waitFor();
    expect(await tab.page.getByText('will appear here', { exact: false }).count()).toBe(0);
  });

  it('show users who may not start a process which permission is missing', async () => {
    const svc = await world().client();
    const content = `${node('startEvent', 'start')}${node('endEvent', 'end')}${flows('start>end')}`;
    await deliverProcess(
      svc,
      'guarded',
      processFile('guarded', content, { attributes: 'svc:start="process-read, chief"' }),
    );
    const clerk = await world().as('clerk', '/tasks/start?app=guarded&process=guarded');
    const why = 'Insufficient permissions to read process data. Required permission: process-read or chief.';
    await clerk.page.getByRole('row').getByText(why).waitFor();
    expect(await clerk.page.getByRole('button', { name: /^Start/ }).count()).toBe(0);
    const operator = await world().as('operator', '/tasks/start?app=guarded');
    await operator.page.getByRole('button', { name: 'Start guarded' }).click();
    await operator.page.getByRole('button', { name: 'Start', exact: true }).click();
    await operator.page.getByText('The process has ended', { exact: false }).waitFor();
  });

  it('are not shown to other users', async () => {
    const uuid = await startOwnLoan(await world().as('clerk', '/tasks'), 'Private Example');
    const tab = await world().as('integrator', `/tasks/${uuid}`);
    await tab.page.getByText('Nothing is waiting for you here.').waitFor();
  });
});
