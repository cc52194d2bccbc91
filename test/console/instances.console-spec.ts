import { beforeAll, describe, expect, it } from 'vitest';
import type { SvcClient } from '../../packages/client/src/index.js';
import { useConsole } from './support/console-world.js';
import {
  flows,
  node,
  processFile,
  taskProcess,
  timerEvent,
  userTask,
} from '../support/runtime/process-files.js';
import { applyFor, deliverProcess, startLoan, startOwnLoan, stoppedLoan, until } from './support/loans.js';

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

describe('Instances', () => {
  const world = useConsole();
  let svc: SvcClient;
  let stopped: string;
  let waiting: string;

  beforeAll(async () => {
    await world().deliverSample();
    svc = await world().client();
    waiting = await startLoan(svc, MARKUP);
    stopped = await stoppedLoan(svc, 'Ada Example');
  });

  it('can be found by filters and by UUID', async () => {
    const tab = await world().as('admin', '/instances');
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).first().waitFor();
    await tab.check('instances');
    await tab.page.getByLabel('Incidents').selectOption('true');
    await tab.settled();
    expect(tab.page.url()).toContain('hasIncidents=true');
    await expect.poll(() => tab.page.getByRole('link', { name: 'loan_onboarding' }).count()).toBe(1);
    await tab.page.getByLabel('Application', { exact: true }).fill('nowhere');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByText('No instances match.').waitFor();
    await tab.page.getByLabel('Instance UUID').fill(waiting);
    await tab.page.getByRole('button', { name: 'Open' }).click();
    await tab.page.getByRole('heading', { name: 'loan_onboarding', level: 1 }).waitFor();
  });

  it('can be found by data and filters together, without values in the address', async () => {
    const uuid = await startLoan(svc, MARKUP);
    const tab = await world().as('admin', '/instances');
    const found = tab.page.getByRole('link', { name: 'loan_onboarding' });
    const { page } = tab;
    const search = page.getByRole('button', { name: 'Search', exact: true });
    await page.getByLabel('Application', { exact: true }).fill('nowhere');
    await page.getByLabel('Value', { exact: true }).focus();
    await page.getByText('There is no application nowhere with an active build.').waitFor();
    await page.getByLabel('Path', { exact: true }).fill('client.name');
    await page.getByLabel('Value', { exact: true }).fill('Ada Example');
    await search.click();
    // Both apply, although the application was typed but not yet searched for.
    await page.getByText('No instances match.').waitFor();

    await page.getByLabel('Application', { exact: true }).fill('sample');
    await page.getByLabel('Value', { exact: true }).focus();
    await page.getByText('Matches the exact value, case-sensitive.', { exact: false }).waitFor();
    await page.getByText('declares the searchable paths: client.name.', { exact: false }).waitFor();
    await search.click();
    await page.locator(`a[href$="${stopped}"]`).waitFor();
    await expect.poll(() => found.count()).toBe(1);
    await found.click();
    await page.getByRole('heading', { name: 'loan_onboarding', level: 1 }).waitFor();
    // The back button returns to the results.
    await page.goBack();
    await expect.poll(() => found.count()).toBe(1);
    expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('Ada Example');

    // The next search replaces the previous one.
    await page.getByLabel('Value', { exact: true }).fill(MARKUP);
    await search.click();
    await page.locator(`a[href$="${uuid}"]`).waitFor();
    expect(await page.locator('main img, main script').count()).toBe(0);
    await page.getByRole('button', { name: 'Add a value' }).click();
    await page.getByLabel('Path', { exact: true }).last().fill('client..name');
    await page.getByLabel('Value', { exact: true }).last().fill('x');
    await tab.check('instances-by-data');
    await search.click();
    await page.getByText('must be a data path, a colon', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Remove value 2' }).click();
    await search.click();
    await page.locator(`a[href$="${uuid}"]`).waitFor();
    expect(
      decodeURIComponent(await page.evaluate<string>('location.href + JSON.stringify(history.state)')),
    ).not.toMatch(/name|Ada|img/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => found.count()).toBeGreaterThan(1);
    expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('');
  });

  it.each([
    [390, 300, '.bar'],
    [1_600, 150, '.bulk-bar'],
  ])('never cover the focused element with a sticky bar, at %i pixels', async (width, height, bar) => {
    const tab = await world().as('admin', '/instances');
    await tab.page.getByRole('checkbox', { name: 'Select all' }).check();
    await tab.page.setViewportSize({ width, height });
    const under = await tab.page.evaluate<number>('document.querySelectorAll("main input").length');
    const hidden: string[] = [];
    for (let index = 0; index < under; index += 1) {
      // Scrolls the field under the bar and focuses the element after it.
      await tab.page.evaluate(`(([field, next]) => {
        scrollTo(0, 0);
        scrollTo(0, field.getBoundingClientRect().top - 10);
        next?.focus({ preventScroll: true });
      })([...document.querySelectorAll('main :is(input, select, button, a)')]
          .filter((each, at, all) => at >= all.indexOf(document.querySelectorAll('main input')[${index}])))`);
      await tab.page.keyboard.press('Shift+Tab');
      hidden.push(
        ...(await tab.page.evaluate<string[]>(`(({ top, bottom }, bar) =>
          top >= bar.top && bottom <= bar.bottom ? [document.activeElement.outerHTML.slice(0, 120)] : []
        )(document.activeElement.getBoundingClientRect(), document.querySelector('${bar}').getBoundingClientRect())`)),
      );
    }
    expect(hidden).toEqual([]);
  });

  it('show their progress on a diagram and as a table', async () => {
    const tab = await world().as('operator', `/instances/${stopped}`);
    await tab.page.locator('.djs-container .is-stopped').first().waitFor();
    await expect.poll(() => tab.page.locator('.djs-connection.is-passed').count()).toBeGreaterThan(3);
    const row = tab.page.getByRole('row', { name: /Advise client/ });
    expect(await row.innerText()).toContain('1 incident');
    await tab.page.getByRole('link', { name: 'Open the run' }).first().waitFor();
    await tab.check('instance');
  });

  it('render process data as text', async () => {
    const tab = await world().as('admin', `/instances/${waiting}?tab=data`);
    await tab.page.getByText('<img src=x', { exact: false }).first().waitFor();
    expect(await tab.page.locator('main img, main script').count()).toBe(0);
    expect(await tab.page.title()).toContain('loan_onboarding');
    await tab.check('instance-data', { schemes: ['light'] });
  });

  it('show their history and their calls', async () => {
    const tab = await world().as('admin', `/instances/${stopped}?tab=history`);
    await tab.page.getByText('incident raised').waitFor();
    await tab.check('instance-history', { schemes: ['light'] });
    await tab.page.getByRole('tab', { name: 'Calls 3' }).click();
    await tab.page.getByRole('link', { name: 'credit_check' }).waitFor();
    await tab.page.getByRole('link', { name: 'advise_client' }).waitFor();
    await tab.check('instance-calls', { schemes: ['light'] });
    await tab.page.getByRole('link', { name: 'credit_check' }).click();
    await tab.page.getByRole('link', { name: 'Caller' }).waitFor();
  });

  it('update live', async () => {
    const uuid = await startLoan(svc, 'Live Example');
    const tab = await world().as('admin', `/instances/${uuid}`);
    await tab.page.getByText('Live', { exact: true }).waitFor();
    await applyFor(svc, uuid);
    await tab.page.getByRole('row', { name: /Review offer.*1 token here/ }).waitFor();
  });

  it('can be held, released and terminated', async () => {
    const uuid = await startLoan(svc, 'Held Example');
    const tab = await world().as('operator', `/instances/${uuid}`);
    for (const [name, state] of [
      ['Hold', 'onhold'],
      ['Release', 'started'],
      ['Terminate', 'terminated'],
    ] as const) {
      await tab.page.getByRole('button', { name }).click();
      await tab.page.getByRole('dialog').getByRole('button', { name }).click();
      await tab.page.locator('.page-head').getByText(state).waitFor();
    }
    expect(await tab.page.getByRole('button', { name: 'Terminate' }).count()).toBe(0);
  });

  it('can be retried with corrected data', async () => {
    const uuid = await stoppedLoan(svc, 'Wrong Example');
    const tab = await world().as('admin', `/instances/${uuid}`);
    await tab.page.getByRole('button', { name: 'Retry this' }).click();
    const dialog = tab.page.getByRole('dialog');
    await dialog.getByLabel('Corrections').fill('[1]');
    await dialog.getByText('This must be a JSON object.').waitFor();
    await tab.check('instance-retry', { schemes: ['light'] });
    await dialog.getByLabel('Corrections').fill('{ "client": { "name": "Right Example" } }');
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { data } = await until(
      () => svc.getProcessInstance({ path: { uuid } }),
      (answer) => answer.data.incidents.length > 0,
    );
    expect(data.data).toMatchObject({ client: { name: 'Right Example' } });
    await tab.page.getByRole('tab', { name: /^Data/ }).click();
    await tab.page.getByText('Data was corrected manually').waitFor();
    await tab.page.getByText('manual correction', { exact: true }).waitFor();
  });

  it('can be retried without corrections by users who may not correct data', async () => {
    const tab = await world().as('operator', `/instances/${await stoppedLoan(svc, 'Kept Example')}`);
    await tab.page.getByRole('button', { name: 'Retry this' }).click();
    await tab.page
      .getByRole('dialog', { name: 'Retry this instance?' })
      .getByRole('button', { name: 'Retry' })
      .waitFor();
    expect(await tab.page.getByLabel('Corrections').count()).toBe(0);
  });

  it('report that an operation comes too late', async () => {
    const uuid = await startLoan(svc, 'Late Example');
    const tab = await world().as('admin', `/instances/${uuid}`);
    await tab.page.getByRole('button', { name: 'Hold' }).click();
    await tab.page.route('**/hold', (route) =>
      route.fulfill({ status: 409, json: { status: 409, error: 'Conflict', message: 'It has ended.' } }),
    );
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await tab.page.getByText('Not possible in the current state').waitFor();
    await tab.page.getByText('It has ended.').waitFor();
  });

  it('can be terminated in bulk, with an outcome for each', async () => {
    const uuids = [await startLoan(svc, 'One'), await startLoan(svc, 'Two'), await startLoan(svc, 'Three')];
    const tab = await world().as('admin', '/instances?processDefinitionName=loan_onboarding&state=STARTED');
    for (const uuid of uuids) {
      await tab.page.getByRole('checkbox', { name: `Select ${uuid}` }).check();
    }
    // One of them ends before the bulk operation.
    await svc.terminateProcessInstance({ path: { uuid: uuids[0] as string } });
    await tab.page
      .getByRole('group', { name: 'Bulk actions' })
      .getByRole('button', { name: 'Terminate' })
      .click();
    const dialog = tab.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Terminate 3 instances' }).click();
    await dialog.getByText('2 done, 1 failed, 0 remaining, 0 skipped').waitFor();
    await tab.check('instances-bulk');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    const states = await Promise.all(
      uuids.map(async (uuid) => (await svc.getProcessInstance({ path: { uuid } })).data.state),
    );
    expect(states).toEqual(['TERMINATED', 'TERMINATED', 'TERMINATED']);
  });

  it('offer no operations without permission, and show users their own instances', async () => {
    const tab = await world().as('clerk', '/tasks');
    const uuid = await startOwnLoan(tab, 'Own Example');
    await tab.open('/instances');
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).waitFor();
    expect(await tab.page.getByRole('checkbox').count()).toBe(0);
    await tab.open(`/instances/${uuid}`);
    await tab.page.getByRole('link', { name: 'Continue the task' }).waitFor();
    expect(await tab.page.getByRole('button', { name: 'Terminate' }).count()).toBe(0);
    await tab.open(`/instances/${stopped}`);
    await tab.page.getByText('You may not do this').waitFor();
  });

  it('are summarized on a heat map of their process and as a table', async () => {
    const tab = await world().as('operator', `/instances/${stopped}`);
    await tab.page.getByRole('link', { name: 'Heat map of the process' }).click();
    await tab.page.getByRole('heading', { name: 'Heat map of loan_onboarding', level: 1 }).waitFor();
    await tab.page.locator('.djs-container .heat-5').first().waitFor();
    await tab.page.getByRole('list', { name: 'Colors: Instances entered' }).waitFor();
    await tab.check('heat-map');
    await tab.page.getByLabel('Color by').selectOption({ label: 'Share with incidents' });
    expect(tab.page.url()).toContain('measure=incidentRate');
    const row = tab.page.getByRole('row', { name: /Advise client/ });
    await expect.poll(() => row.innerText()).toContain('100 %');
    await expect.poll(() => tab.page.locator('.djs-container .djs-shape.heat-5').count()).toBe(1);
    await tab.check('heat-map-incidents', { schemes: ['light'] });
    await row.getByRole('link').click();
    await tab.page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).first().waitFor();
  });

  it('have a heat map linked from their build', async () => {
    const { data: build } = await svc.getBuildInfo({ path: { appId: 'sample' } });
    const tab = await world().as('admin', `/applications/sample/builds/${build.buildId}`);
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).click();
    await tab.page.getByRole('heading', { name: 'Heat map of loan_onboarding', level: 1 }).waitFor();
    await tab.page.getByLabel('Started in').selectOption({ label: 'the last hour' });
    expect(tab.page.url()).toContain('within=hour');
    await tab.page.getByRole('list', { name: 'Colors: Instances entered' }).waitFor();
    await tab.page.getByLabel('Started before').fill('2020-01-01T00:00');
    await tab.page.getByRole('button', { name: 'Search' }).click();
    await tab.page.getByText('No element has a value.').waitFor();
    expect(await tab.page.getByLabel('Started in').locator('option:checked').innerText()).toBe(
      'custom range below',
    );
  });

  it('without a diagram are laid out automatically, or the page says why not', async () => {
    const start = async (appId: string, bpmn: string, process: string): Promise<string> => {
      const buildId = await deliverProcess(svc, appId, bpmn);
      const path = { appId, buildId, processDefinitionName: process };
      return (await svc.startProcess({ path, headers: { 'svc-platform': 'web' }, body: {} })).data.uuid;
    };
    const late = `<bpmn:boundaryEvent id="late" attachedToRef="enter">${timerEvent('timeDuration', 'P1D')}</bpmn:boundaryEvent>`;
    const inner = `${node('startEvent', 'i1')}${userTask('i2')}${node('endEvent', 'i3')}${flows('i1>i2 i2>i3')}`;
    const ordered = processFile(
      'ordered',
      `${node('startEvent', 'start')}${userTask('enter')}${late}${node('subProcess', 'inner', inner)}
       ${node('endEvent', 'end')}${node('endEvent', 'lapsed')}${flows('start>enter enter>inner inner>end late>lapsed')}`,
    ).replace(
      '<bpmn:process',
      `<bpmn:collaboration id="c"><bpmn:participant id="p1" processRef="other"/><bpmn:participant id="p2" processRef="P_ordered"/>
       </bpmn:collaboration><bpmn:process id="other" isExecutable="false">${node('task', 'elsewhere')}</bpmn:process><bpmn:process`,
    );
    const tab = await world().as('admin', `/instances/${await start('drawn', ordered, 'ordered')}`);
    const diagram = tab.page.getByRole('figure', { name: 'Diagram of ordered' });
    await diagram.getByText('this one was laid out automatically', { exact: false }).waitFor();
    for (const id of ['start', 'enter', 'late', 'inner', 'end', 'lapsed', 'start_enter', 'late_lapsed']) {
      await diagram.locator(`[data-element-id="${id}"]`).first().waitFor({ state: 'attached' });
    }
    await diagram.locator('[data-element-id="enter"].is-active').waitFor();
    await diagram.locator('[data-element-id="start_enter"].is-passed').waitFor({ state: 'attached' });
    expect(await diagram.locator('[data-element-id="elsewhere"]').count()).toBe(0);
    await tab.check('instance-laid-out');
    await diagram.locator('.bjs-drilldown').click();
    await diagram.locator('[data-element-id="i2"]').waitFor();

    const ids = [1, 2, 3, 4, 5];
    const tangled = processFile(
      'tangled',
      `${node('startEvent', 's')}${ids.map((id) => userTask(`t${id}`)).join('')}${node('endEvent', 'e')}
       ${flows('s>t1 t1>t2 t2>t3 t3>t4 t4>t5 t2>t5 t2>t4 t2>t1 t5>e')}`,
    );
    await tab.open(`/instances/${await start('tangled', tangled, 'tangled')}`);
    await tab.page.getByText('its flows are too tangled to lay out', { exact: false }).waitFor();
    const many = taskProcess('many', ...Array.from({ length: 500 }, (_, index) => userTask(`t${index}`)));
    await tab.open(`/instances/${await start('many', many, 'many')}`);
    await tab.page
      .getByText('its 502 elements are too many to lay out (at most 500)', { exact: false })
      .waitFor();
    await tab.check('instance-not-laid-out', { schemes: ['light'] });
  });

  it('have no heat map without process-read', async () => {
    const { data: build } = await svc.getBuildInfo({ path: { appId: 'sample' } });
    const tab = await world().as('clerk', `/instances/heat/sample/${build.buildId}/loan_onboarding`);
    await tab.page.getByText('You may not do this').waitFor();
  });

  it('are linked from their incidents', async () => {
    const tab = await world().as('admin', '/instances/incidents?state=OPEN&code=WORKFLOW');
    await tab.page.getByRole('link', { name: 'Open the run' }).first().waitFor();
    await tab.check('incidents');
    await tab.open('/instances/incidents');
    await tab.page.getByRole('columnheader', { name: 'State' }).waitFor();
    await tab.page
      .getByRole('row', { name: /loan_onboarding.* workflow open/ })
      .first()
      .waitFor();
    await tab.page
      .getByRole('row', { name: /loan_onboarding.* workflow retried/ })
      .first()
      .waitFor();
    await tab.page.setViewportSize({ width: 390, height: 900 });
    await tab.page.locator('td[data-title="Element"]').first().waitFor();
    await tab.page.setViewportSize({ width: 1_600, height: 900 });
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).first().click();
    await tab.page.getByText('Open incidents').waitFor();
  });
});

describe('Instances of a rate-limited service', () => {
  const LIMIT = 60;
  const world = useConsole({ settings: { RATE_LIMIT_PRINCIPAL_PER_MINUTE: String(LIMIT) } });
  beforeAll(() => world().deliverSample());

  it('are terminated in bulk after the pause, and rejected requests do not count as done', async () => {
    const svc = await world().client();
    const uuids = [await startLoan(svc, 'One'), await startLoan(svc, 'Two'), await startLoan(svc, 'Three')];
    const tab = await world().as('operator');
    const request = tab.page.waitForRequest('**/rtm/api/runtime/**');
    await tab.open('/instances?processDefinitionName=loan_onboarding&state=STARTED');
    const { authorization = '' } = await (await request).allHeaders();
    const choose = async (): Promise<void> => {
      for (const uuid of uuids) {
        await tab.page.getByRole('checkbox', { name: `Select ${uuid}` }).check();
      }
      await tab.page
        .getByRole('group', { name: 'Bulk actions' })
        .getByRole('button', { name: 'Terminate' })
        .click();
    };
    await choose();
    // Uses up the limit, as another tab of the same user would.
    for (let status = 200; status !== 429;) {
      ({ status } = await fetch(`${world().app.url}/rtm/api/me`, { headers: { authorization } }));
    }
    const dialog = tab.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Terminate 3 instances' }).click();
    await dialog.getByText('The service has reached its rate limit.', { exact: false }).waitFor();
    await tab.check('instances-bulk-resting', { schemes: ['light'] });
    await dialog.getByRole('button', { name: 'Skip the rest' }).click();
    await dialog.getByText('0 done, 0 failed, 0 remaining, 3 skipped').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await tab.page.getByText('Too many requests at the moment').waitFor();

    const again = tab.page.getByRole('button', { name: 'Try again' });
    while (await again.isVisible()) {
      await tab.page.waitForTimeout(2_000);
      await again.click();
      await tab.settled();
    }
    await choose();
    for (let status = 200; status !== 429;) {
      ({ status } = await fetch(`${world().app.url}/rtm/api/me`, { headers: { authorization } }));
    }
    await dialog.getByRole('button', { name: 'Terminate 3 instances' }).click();
    await dialog.getByText('3 done, 0 failed, 0 remaining, 0 skipped').waitFor({ timeout: 90_000 });
    const states = await Promise.all(
      uuids.map(async (uuid) => (await svc.getProcessInstance({ path: { uuid } })).data.state),
    );
    expect(states).toEqual(['TERMINATED', 'TERMINATED', 'TERMINATED']);
  });
});
