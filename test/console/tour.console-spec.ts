import { resolve } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEvaluation, type EvaluationService } from '../support/evaluation-service.js';
import { startEverything, type ProcessPeer } from '../support/peers/official.peers.js';
import { chromiumPath } from './support/chromium.js';
import { Tab } from './support/tab.js';

/** The service brings its own database, so one run is enough. */
const isEnabled = process.env['TEST_DATABASE'] === 'embedded';

/** Follows the ten steps of README.md in a browser, against the service that `npm run dev` starts. */
describe.runIf(isEnabled)('The tour in the console', () => {
  let service: EvaluationService;
  let server: ProcessPeer;
  let browser: Browser;
  let tab: Tab;
  const press = (name: string): Promise<void> =>
    tab.page.getByRole('button', { name, exact: true }).first().click();
  const confirm = (name: string): Promise<void> =>
    tab.page.getByRole('dialog').getByRole('button', { name }).click();
  const see = (text: string | RegExp): Promise<void> => tab.page.getByText(text).first().waitFor();
  const apply = async (
    values: Record<string, string>,
    message = 'submit_application is done.',
  ): Promise<void> => {
    for (const [label, value] of Object.entries(values)) {
      await tab.page.getByLabel(label).fill(value);
    }
    await press('submit_application');
    await see(message);
  };
  const loan = { amount: '20000', months: '48', income: '5200' };

  beforeAll(async () => {
    service = await startEvaluation();
    server = await startEverything('streamableHttp');
    browser = await chromium.launch({
      executablePath: chromiumPath() ?? '',
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    const context = await browser.newContext({
      viewport: { width: 1_600, height: 900 },
      reducedMotion: 'reduce',
    });
    tab = await Tab.in(context, service.url);
  });
  afterAll(async () => {
    await tab.close();
    await browser.close();
    await server.close();
    await service.stop();
  });

  it('1: signs in with one click', async () => {
    await tab.open('/');
    await press('Sign in');
    await tab.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  it('2 and 3: registers the server and tests the connection', async () => {
    await tab.open('/systems/register?app=sample&version=v1');
    await tab.page.getByLabel('Resource name').fill('everything');
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('Everything');
    await tab.page.getByLabel('Address of the MCP server').fill(server.url);
    await press('Register a system');
    await tab.page.getByRole('heading', { name: 'Everything', level: 1 }).waitFor();
    await press('Test connection');
    await see('13 tools');
  });

  it('4: switches a tool off', async () => {
    await tab.page.getByRole('switch', { name: 'Agents may call get-env' }).click();
    await see('Tool disabled.');
    await tab.page.getByRole('tab', { name: 'History' }).click();
    await see('tool.switch');
  });

  it('shows failing connections', async () => {
    for (const [address, sentence] of [
      ['http://127.0.0.1:65534/mcp', 'The connection was refused.'],
      ['http://169.254.169.254/latest/meta-data', 'The address is not one this service may call.'],
    ] as const) {
      await press('Change');
      await tab.page.getByLabel('Address of the MCP server').fill(address);
      await press('Save');
      await see('System saved.');
      await press('Test connection');
      await see(sentence);
    }
    await press('Change');
    await tab.page.getByLabel('Address of the MCP server').fill(server.url);
    await press('Save');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    await press('Test connection');
    await see('13 tools');
  });

  it('5 and 6: starts a process, executes its UI actions and goes back', async () => {
    await tab.open('/tasks/start?app=sample');
    await press('Start loan_onboarding');
    await tab.page.getByLabel('name').fill('Ada Example');
    await press('Start');
    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
    await apply(loan);
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();
    await apply({ ...loan, amount: '15000' }, 'The process went back: submit_application.');
    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
    await apply({ ...loan, amount: '15000' });
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();
    await press('accept_offer');
    await see(/The process has ended/);
  });

  it('7: delivers the folder, then commits, builds and activates it', async () => {
    await tab.open('/applications');
    await tab.page.getByRole('link', { name: 'Deliver a package' }).click();
    await tab.page.getByLabel('Folder of the application').setInputFiles(resolve('sample/application'));
    await see(/^Found: processes 1/);
    await tab.page.getByLabel('Version').fill('v1');
    const library = tab.page.getByLabel('Build of the library sample-library');
    await library.selectOption({ index: 1 });
    await tab.page.getByLabel('Address of the system everything').fill(server.url);
    await tab.check('deliver');
    await press('Store the package');
    await tab.page.getByRole('heading', { name: 'Version v1', level: 1 }).waitFor();
    await press('Commit');
    await confirm('Commit');
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await press('Build');
    await confirm('Build');
    await see('get-sum');
    await press('Activate');
    await confirm('Activate');
    await see('Build activated.');
  });

  it('8 and 9: runs the agent and disables one of its tools', async () => {
    expect(await advised()).toContain('You pay back 20200 in all.');
    await tab.open('/systems?app=sample&version=v1');
    await tab.page.getByRole('link', { name: 'Everything' }).click();
    await tab.page.getByRole('switch', { name: 'Agents may call echo' }).click();
    await tab.page.getByRole('dialog').or(tab.page.getByText('Tool disabled.')).first().waitFor();
    expect(await advised()).toContain('TOOL_DISABLED');
  });

  it('10: scans the platform', async () => {
    await tab.open('/platform');
    await press('Scan now');
    await tab.page.getByRole('heading', { name: 'sample/everything' }).first().waitFor();
    expect(tab.problems).toEqual([]);
  });

  /** Starts a process in which the agent gives advice. @returns the conversation as shown */
  async function advised(): Promise<string> {
    await tab.open('/tasks/start?app=sample&process=loan_onboarding');
    await tab.page.getByLabel('name').fill('Ada Example');
    await press('Start');
    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
    await tab.page.getByLabel('advice').selectOption({ label: 'Yes' });
    await apply(loan);
    await tab.page.getByRole('heading', { name: 'Review offer', level: 1 }).waitFor();
    await tab.page.getByRole('link', { name: 'Open the instance' }).click();
    await tab.page.locator('.diagram-canvas .djs-shape').first().waitFor();
    await tab.check('tour-instance', { schemes: ['light'] });
    await tab.page.getByRole('tab', { name: /^Calls/ }).click();
    await tab.page.getByRole('link', { name: 'advise_client' }).click();
    await see('get-sum (everything)');
    await tab.check('tour-agent-run', { schemes: ['light'] });
    return tab.page.locator('main').innerText();
  }
});
