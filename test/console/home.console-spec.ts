import { beforeAll, describe, expect, it } from 'vitest';
import { useConsole } from './support/console-world.js';

describe('Home', () => {
  const world = useConsole();
  beforeAll(async () => {
    await world().deliverSample();
    const client = await world().client();
    const { data: build } = await client.getBuildInfo({ path: { appId: 'sample' } });
    await client.startProcess({
      path: { appId: 'sample', buildId: build.buildId, processDefinitionName: 'loan_onboarding' },
      headers: { 'svc-platform': 'web' },
      body: { client: { name: 'Ada Example' } },
    });
    await client.discoverPlatform();
  });

  it('shows health, incidents and running instances', async () => {
    const tab = await world().as('admin');
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).first().waitFor();
    await tab.page.getByText('svc-platform: healthy').waitFor();
    await tab.page.getByText('Output tokens').waitFor();
    const running = tab.page.getByRole('table', { name: 'Running instances by process' });
    expect(await running.getByRole('row', { name: /loan_onboarding sample/ }).innerText()).toMatch(/\t1$/);
    await tab.check('home');
  });

  it('shows users without permissions what they may see', async () => {
    const tab = await world().as('clerk');
    await tab.page
      .getByText('You need the permission process-read to see incidents and running instances.')
      .waitFor();
    await tab.check('home-clerk', { schemes: ['light'] });
  });

  it('reports that the service does not answer and continues when it is back', async () => {
    const tab = await world().as('operator', '/about');
    await tab.page.route('**/rtm/api/runtime/**', (route) => route.abort());
    await tab.open('/');
    await tab.page.getByText('The service does not answer').first().waitFor();
    await tab.check('home-service-gone', { schemes: ['light'] });
    await tab.page.unroute('**/rtm/api/runtime/**');
    await tab.page.getByRole('button', { name: 'Try again' }).first().click();
    await tab.page.getByRole('link', { name: 'loan_onboarding' }).first().waitFor();
  });

  it('can be used by keyboard', async () => {
    const tab = await world().as('admin');
    await tab.page.keyboard.press('Tab');
    expect(await tab.page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to content');
  });
});

describe('About', () => {
  const world = useConsole();

  it('shows the service and the caller', async () => {
    const tab = await world().as('admin', '/about');
    await tab.page.getByText('all applications').first().waitFor();
    await tab.check('about');
  });

  it('reports an unknown page', async () => {
    const tab = await world().as('admin', '/nowhere/at/all');
    await tab.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await tab.check('no-such-page', { schemes: ['light'] });
  });
});
