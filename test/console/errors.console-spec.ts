import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SvcClient } from '../../packages/client/src/index.js';
import { startModernPeer, type ModernPeer } from '../support/peers/official.peers.js';
import { packageDocument } from '../support/runtime/publish.js';
import { useConsole } from './support/console-world.js';
import { startLoan, startOwnLoan } from './support/loans.js';
import { PERSONAS } from './support/personas.js';

const SECRET = 'the-right-key-of-ours';
const VERSION = { appId: 'shop', versionId: 'v1' };

/** Provokes real errors and checks that the console says what happened and what to do. */
describe('errors in the console', () => {
  const world = useConsole({ provider: { tokenSeconds: 60 } });
  let svc: SvcClient;
  let peer: ModernPeer;
  let system: string;

  beforeAll(async () => {
    await world().deliverSample();
    svc = await world().client();
    peer = await startModernPeer([{ name: 'echo' }], (token) => token === SECRET);
    const { data } = await svc.createSystem({
      path: VERSION,
      body: {
        action: 'CREATE',
        resourceName: 'crm',
        payload: {
          name: 'CRM',
          type: 'MCP',
          baseUrl: peer.url,
          authorization: {
            type: 'API_KEY',
            configuration: { headerName: 'Authorization', scheme: 'Bearer', apiKey: 'a-wrong-key' },
          },
        },
      },
    });
    system = data.resourceId;
  });
  afterAll(() => peer.close());

  it('shows which step of a connection test fails with a wrong secret', async () => {
    const tab = await world().as('integrator', `/systems/shop/v1/${system}`);
    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    const step = tab.page.getByRole('listitem').filter({ hasText: 'failed' });
    await step.getByText('The MCP server requires credentials or rejected the ones it got.').waitFor();
    await tab.check('error-wrong-secret', { schemes: ['light'] });

    await tab.page.getByRole('button', { name: 'Replace secret' }).click();
    await tab.page.getByLabel('API key (required)').fill(SECRET);
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click();
    await tab.page.getByText('Secret replaced.').waitFor();
    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('1 tool', { exact: false }).first().waitFor();
    await step.waitFor({ state: 'detached' });
  });

  it('reports a taken name (409) and keeps the input', async () => {
    const tab = await world().as('integrator', '/systems/register?app=shop&version=v1');
    await tab.page.getByLabel('Resource name').fill('crm');
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('Another CRM');
    await tab.page.getByLabel('Address of the MCP server').fill(peer.url);
    await tab.page.getByRole('button', { name: 'Register a system' }).click();
    const note = tab.page.getByRole('alert');
    await note.getByText('Not possible in the current state').waitFor();
    expect(await note.getByText('Refresh', { exact: false }).count()).toBe(0);
    const nameField = tab.page.getByLabel('Resource name');
    expect(await nameField.getAttribute('aria-invalid')).toBe('true');
    await tab.page.locator('.field-error').getByText('is taken by another system of this version').waitFor();
    expect(await tab.page.getByLabel('Name (required)', { exact: true }).inputValue()).toBe('Another CRM');
    await tab.check('error-taken', { schemes: ['light'] });
  });

  it('reports that the version was committed in the meantime (409)', async () => {
    const path = { appId: 'shop', versionId: 'v2' };
    const { data } = await svc.createSystem({
      path,
      body: {
        action: 'CREATE',
        resourceName: 'stock',
        payload: {
          name: 'Stock',
          type: 'MCP',
          baseUrl: peer.url,
          authorization: { type: 'NO_AUTH' },
        },
      },
    });
    await svc.storePackage({ path, body: packageDocument('shop') as never });
    const tab = await world().as('admin', `/systems/shop/v2/${data.resourceId}`);
    await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
    await svc.commitVersion({ path });
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('Stock of all');
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByRole('alert').getByText('Not possible in the current state').waitFor();
    await tab.page.getByRole('alert').getByText('committed', { exact: false }).waitFor();
    await tab.page.getByRole('button', { name: 'Refresh' }).click();
    await tab.page.getByRole('button', { name: 'Change', exact: true }).waitFor({ state: 'detached' });
  });

  it('reports that someone else changed a system (412) and overwrites nothing', async () => {
    const path = { ...VERSION, systemResourceId: system };
    const tab = await world().as('integrator', `/systems/shop/v1/${system}`);
    await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
    await svc.updateSystem({ path, body: { name: 'CRM of someone else' } });
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('Mine');
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Someone else has changed it').waitFor();
    await tab.page.getByText('make your change again', { exact: false }).waitFor();
    expect((await svc.getSystem({ path })).data.name).toBe('CRM of someone else');
    await tab.page.getByRole('button', { name: 'Refresh' }).click();
    await tab.page.getByRole('heading', { name: 'CRM of someone else', level: 1 }).waitFor();
  });

  it('reports a permission revoked in the meantime (403) and whom to ask', async () => {
    const uuid = await startLoan(svc, 'Kept Example');
    const tab = await world().as('operator', `/instances/${uuid}`);
    await tab.page.getByRole('button', { name: 'Terminate' }).click();
    world().provider.add({ ...PERSONAS.operator, roles: ['process-read'] });
    // The next token has only this role.
    const renewed = tab.page.waitForResponse((answer) => answer.url().endsWith('/token'));
    await tab.page.clock.install();
    await tab.page.clock.fastForward(45_000);
    expect((await renewed).status()).toBe(200);
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click();
    await tab.page.getByText('You may not do this').waitFor();
    await tab.page.getByText('Ask your administrator', { exact: false }).waitFor();
    expect((await svc.getProcessInstance({ path: { uuid } })).data.state).toBe('STARTED');
  });

  it('reports that the service does not answer, keeps the page, and continues when it is back', async () => {
    const tab = await world().as('clerk', '/tasks');
    await startOwnLoan(tab, 'Gone Example');
    for (const [label, value] of [
      ['amount', '20000'],
      ['months', '48'],
      ['income', '5200'],
    ] as const) {
      await tab.page.getByLabel(label).fill(value);
    }
    const back = await world().takeAway();
    const submit = tab.page.getByRole('button', { name: 'submit_application' });
    await submit.click();
    await tab.page.getByText('The service does not answer').first().waitFor();
    await tab.page.getByText('refresh before you repeat them', { exact: false }).first().waitFor();
    await tab.check('error-service-gone', { schemes: ['light'] });
    expect(await tab.page.getByLabel('amount').inputValue()).toBe('20000');
    await back();
    await submit.click();
    await tab.page.getByText('submit_application is done.').waitFor();
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();
  });

  it('reloads a followed instance and its task when the service is back after a long time', async () => {
    const tab = await world().as('clerk', '/tasks');
    await tab.page.clock.install();
    const uuid = await startOwnLoan(tab, 'Long Gone Example');
    const watching = await world().as('admin', '/instances');
    await watching.page.clock.install();
    await watching.open(`/instances/${uuid}`);
    await watching.page.getByText('Live', { exact: true }).waitFor();
    const pages = [tab.page, watching.page];
    const back = await world().takeAway();
    await watching.page.getByText('Not live').waitFor();
    for (let tries = 0; tries < 8; tries += 1) {
      for (const page of pages) {
        const tried = page.waitForEvent('requestfailed');
        await page.clock.fastForward(31_000);
        await tried;
        await page.getByText('The service does not answer').waitFor();
      }
    }
    await back();
    await svc.holdProcessInstance({ path: { uuid } });
    for (const page of pages) {
      await page.clock.fastForward(31_000);
    }
    await watching.page.getByText('Live', { exact: true }).waitFor();
    await watching.page.getByRole('button', { name: 'Release' }).waitFor();
    await tab.page.getByText('The instance is on hold.', { exact: false }).waitFor();
    for (const page of pages) {
      await page.getByText('The service does not answer').waitFor({ state: 'detached' });
    }
  });

  it('reports that a page cannot be loaded while the service does not answer', async () => {
    const tab = await world().as('admin', '/about');
    const back = await world().takeAway();
    // The file of this page has not been loaded before.
    await tab.open('/audit');
    await tab.page.getByRole('heading', { name: 'The page could not be loaded' }).waitFor();
    await back();
    await tab.page.getByRole('button', { name: 'Try again' }).click();
    await tab.page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
  });
});
