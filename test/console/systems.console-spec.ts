import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SvcClient } from '../../packages/client/src/index.js';
import { CertificateAuthority } from '../support/peers/certificates.js';
import { startToolsPeer, type CountedTool, type ToolsPeer } from '../support/peers/official.peers.js';
import { useConsole } from './support/console-world.js';

const MARKUP = '<img src=x onerror="document.title=\'XSS\'"><script>document.title="XSS"</script>';
const TOOLS: Record<string, CountedTool> = {
  echo: { description: `Says it again. ${MARKUP}`, run: (text) => `said ${text} ${MARKUP}` },
  count: { description: 'Counts letters.', run: (text) => String(text.length) },
};
const VERSION = { appId: 'shop', versionId: 'v1' };

describe('Systems and tools', () => {
  const world = useConsole({ settings: { TOOL_CALLS: 'true' } });
  let peer: ToolsPeer;
  let authority: CertificateAuthority;
  let place: string;
  beforeAll(async () => {
    peer = await startToolsPeer(TOOLS);
    authority = await CertificateAuthority.create();
    const client = await world().client();
    const payload = {
      name: `Stock ${MARKUP}`.slice(0, 250),
      type: 'MCP' as const,
      baseUrl: peer.url,
      authorization: { type: 'NO_AUTH' as const },
      description: MARKUP,
    };
    const { data } = await client.createSystem({
      path: VERSION,
      body: { action: 'CREATE', resourceName: 'stock', payload },
    });
    place = `/systems/shop/v1/${data.resourceId}`;
  });
  afterAll(() => Promise.all([peer.close(), authority.close()]));

  const pathOfSystem = () => ({ ...VERSION, systemResourceId: place.split('/').at(-1) ?? '' });
  const echoOf = async (client: SvcClient) =>
    (await client.getSystem({ path: pathOfSystem() })).data.tools.find(({ name }) => name === 'echo');

  it('lists systems by application and version, and shows names as text', async () => {
    const tab = await world().as('admin', '/systems');
    await tab.page.getByLabel('Application').selectOption('shop');
    await tab.page.getByLabel('Version').selectOption('v1');
    await tab.page.getByRole('link', { name: 'Stock' }).waitFor();
    await tab.check('systems');
    expect(await tab.page.title()).not.toBe('XSS');
  });

  it('registers a system, replaces its secret, changes it and deletes it', async () => {
    const tab = await world().as('integrator', '/systems/register?app=shop&version=v2');
    await tab.page.getByLabel('Resource name').fill('crm');
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('CRM');
    await tab.page.getByLabel('Address of the MCP server').fill(peer.url);
    await tab.page.getByLabel('How it is signed in to').selectOption('API_KEY');
    // The word before the key is prefilled for one header only.
    const [header, scheme] = [tab.page.getByLabel('Header'), tab.page.getByLabel('Word before the key')];
    expect(await scheme.inputValue()).toBe('Bearer');
    await header.fill('X-Api-Key');
    expect(await scheme.inputValue()).toBe('');
    await header.fill('authorization');
    expect(await scheme.inputValue()).toBe('Bearer');
    await scheme.fill('Token');
    await header.fill('X-Api-Key');
    expect(await scheme.inputValue()).toBe('Token');
    await tab.page.getByLabel('API key (required)').fill('a-key-of-ours');
    await tab.check('systems-register');
    await tab.page.getByRole('button', { name: 'Register a system' }).click();
    await tab.page.getByRole('heading', { name: 'CRM', level: 1 }).waitFor();

    await tab.page.getByRole('button', { name: 'Replace secret' }).click();
    await tab.page.getByLabel('API key (required)').fill('another-key-of-ours');
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Replace secret' }).click();
    await tab.page.getByText('The secret is replaced.').waitFor();

    await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('CRM of all');
    await tab.check('systems-change', { schemes: ['light'] });
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByRole('heading', { name: 'CRM of all', level: 1 }).waitFor();

    const dialog = tab.page.getByRole('dialog');
    const change = async (): Promise<void> => {
      await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
      await dialog.waitFor();
    };
    const saved = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await tab.page.getByRole('tab', { name: 'About it' }).click();
    await tab.page.getByText('X-Api-Key').waitFor();
    expect(await tab.page.getByText('undefined').count()).toBe(0);
    await change();
    // Another address demands the secret before the service does; the same address, written otherwise, does not.
    const save = dialog.getByRole('button', { name: 'Save' });
    const address = dialog.getByLabel('Address of the MCP server');
    await address.fill(peer.url.replace('http:', 'HTTP:'));
    expect(await dialog.getByText('Give it again', { exact: false }).count()).toBe(0);
    await address.fill('https://elsewhere.example.com/mcp');
    await dialog.getByText('Give it again', { exact: false }).waitFor();
    expect(await save.isDisabled()).toBe(true);
    await tab.check('systems-change-address');
    await dialog.getByLabel('API key (required)').fill('a-third-key-of-ours');
    expect(await save.isDisabled()).toBe(false);
    expect(await dialog.getByText('Give it again', { exact: false }).count()).toBe(0);
    await address.fill(peer.url);
    await dialog.getByLabel('API key').fill('');
    await dialog.getByText('Certificates', { exact: true }).click();
    const agent = await authority.issue({ name: 'agent' });
    await dialog.getByLabel('Certificates of authorities').fill(authority.cert);
    await dialog.getByLabel('Client certificate (PEM)', { exact: true }).fill(agent.cert);
    await dialog.getByLabel('Key of the client certificate').fill(agent.key);
    // Who is trusted decides who can read a secret.
    await dialog.getByText('Give it again', { exact: false }).waitFor();
    await dialog.getByLabel('API key').fill('another-key-of-ours');
    await saved();
    await change();
    await dialog.getByText('Stored: CN=agent').waitFor();
    expect(await dialog.getByLabel('Key of the client certificate').inputValue()).toBe('');
    await tab.check('systems-certificates', { schemes: ['light'] });
    await dialog.getByLabel('Remove the client certificate').check();
    await saved();
    await change();
    await dialog.getByLabel('Trust the built-in authorities again').waitFor();
    expect(await dialog.getByText('Stored: CN=agent').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('Credentials travel unencrypted', { exact: false }).waitFor();

    await tab.page.getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByText('The system is deleted.').waitFor();
  });

  it('keeps scope, fields of the token request, static headers and a time-out, and hides values', async () => {
    const tab = await world().as('integrator', '/systems/register?app=shop&version=v3');
    const { page } = tab;
    await page.getByLabel('Resource name').fill('billing');
    await page.getByLabel('Name (required)', { exact: true }).fill('Billing');
    await page.getByLabel('Address of the MCP server').fill(peer.url);
    await page.getByLabel('How it is signed in to').selectOption('SERVICE_ACCOUNT');
    await page.getByLabel('Client id').fill('billing-client');
    await page.getByLabel('Token endpoint').fill('https://sso.example.com/token');
    await page.getByLabel('Scope').fill('billing.read');
    await page.getByLabel('Further fields of the token request').fill('audience=https://billing.example.com');
    await page.getByLabel('Client secret (required)').fill('a-secret-of-ours');
    await page.getByText('Static headers', { exact: true }).click();
    for (const [index, [name, value]] of [
      ['X-Tenant', 'canary-tenant'],
      ['X-Client', 'canary-client'],
    ].entries()) {
      await page.getByRole('button', { name: 'Add a header' }).click();
      await page.getByLabel(`Name of header ${index + 1}`).fill(name ?? '');
      await page.getByLabel(`Value of header ${index + 1}`).fill(value ?? '');
    }
    await page.getByLabel('Time-out of one tool call').fill('45000');
    await tab.check('systems-register-headers');
    await page.getByRole('button', { name: 'Register a system' }).click();
    await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();

    const systemResourceId = page.url().split(/[?#]/)[0]?.split('/').at(-1) ?? '';
    const client = await world().client();
    const stored = async () =>
      (await client.getSystem({ path: { appId: 'shop', versionId: 'v3', systemResourceId } })).data;
    const shown = await stored();
    expect(shown).toMatchObject({
      headerNames: ['X-Client', 'X-Tenant'],
      timeoutMs: 45_000,
      authorization: {
        config: { scope: 'billing.read', tokenParameters: { audience: 'https://billing.example.com' } },
      },
    });
    expect(JSON.stringify(shown)).not.toContain('canary');
    await page.getByRole('tab', { name: 'About it' }).click();
    await page.getByText('X-Client, X-Tenant').waitFor();
    await page.getByText('billing.read').waitFor();
    expect(await page.content()).not.toContain('canary');

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByText('Stored: X-Client, X-Tenant').waitFor();
    expect(await dialog.getByLabel('Scope').inputValue()).toBe('billing.read');
    // Another address demands the headers, too.
    await dialog.getByLabel('Address of the MCP server').fill('https://elsewhere.example.com/mcp');
    await dialog.getByLabel('Client secret (required)').fill('a-secret-of-ours');
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('Remove the stored headers').check();
    expect(await save.isDisabled()).toBe(false);
    await dialog.getByLabel('Time-out of one tool call').fill('');
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    const changed = await stored();
    expect(changed.baseUrl).toBe('https://elsewhere.example.com/mcp');
    expect(changed).not.toHaveProperty('headerNames');
    expect(changed).not.toHaveProperty('timeoutMs');
  });

  it('refuses a time-out that is no number and headers that are not whole, and replaces their values', async () => {
    const client = await world().client();
    const { data } = await client.createSystem({
      path: { appId: 'shop', versionId: 'v4' },
      body: {
        action: 'CREATE',
        resourceName: 'mail',
        payload: {
          name: 'Mail',
          type: 'MCP',
          baseUrl: peer.url,
          authorization: { type: 'NO_AUTH' },
          headers: { 'X-Tenant': 'canary-one' },
          timeoutMs: 5_000,
        },
      },
    });
    const path = { appId: 'shop', versionId: 'v4', systemResourceId: data.resourceId };
    const tab = await world().as('integrator', `/systems/shop/v4/${data.resourceId}`);
    const dialog = tab.page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save' });
    await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
    const timeout = dialog.getByLabel('Time-out of one tool call');
    for (const [text, fault] of [
      ['5000 ms', 'This must be a number.'],
      ['abc', 'This must be a number.'],
      ['1.5', 'This must be a whole number.'],
    ] as const) {
      await timeout.fill(text);
      await dialog.getByText(fault).waitFor();
      expect(await save.isDisabled()).toBe(true);
    }
    await timeout.fill('0');
    await save.click();
    await dialog
      .locator('.field-error')
      .getByText('must be a whole number from 1 to', { exact: false })
      .waitFor();
    await timeout.fill('6000');

    const add = dialog.getByRole('button', { name: 'Add a header' });
    const again = dialog.getByText('Give it again', { exact: false });
    await dialog.getByLabel('Address of the MCP server').fill('https://elsewhere.example.com/mcp');
    await again.waitFor();
    await add.click();
    // The name is prefilled; without a value it is no header.
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('Value of header 1').fill('canary-two');
    expect(await again.count()).toBe(0);
    expect(await save.isDisabled()).toBe(false);
    await add.click();
    await dialog.getByLabel('Value of header 2').fill('canary-three');
    await dialog.getByText('This is needed.').waitFor();
    await dialog.getByLabel('Name of header 2').fill('x-tenant');
    await dialog.getByText('Another row has this name.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await tab.check('systems-change-headers', { schemes: ['light'] });
    await dialog.getByLabel('Name of header 2').fill('Authorization');
    await save.click();
    await dialog.locator('.field-error').getByText('not Authorization', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Remove header 2' }).click();
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    expect((await client.getSystem({ path })).data).toMatchObject({
      headerNames: ['X-Tenant'],
      timeoutMs: 6_000,
    });

    await tab.page.getByRole('button', { name: 'Replace headers' }).click();
    const replace = dialog.getByRole('button', { name: 'Replace headers' });
    expect(await replace.isDisabled()).toBe(true);
    await dialog.getByLabel('X-Tenant').fill('canary-four');
    await replace.click();
    await tab.page.getByText('The secret is replaced.').waitFor();
    await tab.page.getByRole('tab', { name: 'History' }).click();
    await tab.page.getByText('headers').first().waitFor();
  });

  it('tests a connection step by step, and decides about what it found', async () => {
    const tab = await world().as('admin', place);
    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('2 tools').waitFor();
    await tab.page.getByRole('switch', { name: 'Agents may call echo' }).waitFor();
    await tab.check('system');
    expect(await tab.page.title()).not.toBe('XSS');

    await tab.page.getByRole('switch', { name: 'Agents may call count' }).click();
    await tab.page.getByText('Tool disabled.').waitFor();

    peer.tools = { ...TOOLS, echo: { description: 'Says it twice.', run: (text) => text + text } };
    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('Off until reviewed: echo').waitFor();
    await tab.page.getByRole('tab', { name: 'Review' }).click();
    const description = tab.page.getByRole('region', { name: 'Description of echo' });
    await description.getByText('Says it twice.').waitFor();
    await description.getByText('Says it again.').waitFor();
    await tab.check('system-review');
    await tab.page.getByRole('button', { name: 'Allow' }).click();
    await tab.page.getByText('Decided.').waitFor();

    await tab.page.getByRole('tab', { name: 'History' }).click();
    await tab.page.getByText('tool.switch').first().waitFor();
    await tab.check('system-history');
    await tab.page.getByRole('tab', { name: 'About it' }).click();
    await tab.check('system-facts', { schemes: ['light'] });
    await tab.page.getByRole('tab', { name: 'Uses' }).click();
    await tab.page.getByText('No agent refers to this system.').waitFor();
  });

  it('decides about several tools at once, and tells what came of each', async () => {
    const client = await world().client();
    const path = pathOfSystem();
    peer.tools = {
      echo: { description: 'Says it twice.', run: (text) => text },
      count: { description: 'Counts words.', run: (text) => text },
      order: { description: 'Orders.', run: (text) => text },
      pay: { description: 'Pays.', run: (text) => text },
    };
    await client.testStoredConnection({ path });
    const tab = await world().as('admin', `${place}?view=review`);
    await tab.page.getByRole('button', { name: 'Allow all 3' }).click();
    await tab.check('system-review-all', { schemes: ['light'] });
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Allow', exact: true }).click();
    await tab.page.getByText('Nothing waits for review.').waitFor();
    const { data } = await client.getSystem({ path });
    expect(data.tools.filter(({ enabled }) => enabled)).toHaveLength(4);
  });

  it('compares with what was decided on, however often the tool was changed since', async () => {
    const client = await world().client();
    const path = pathOfSystem();
    for (const description of ['Says it four times.', 'Says it thrice.']) {
      peer.tools = { ...peer.tools, echo: { description, run: (text) => text } };
      await client.testStoredConnection({ path });
    }
    const tab = await world().as('admin', `${place}?view=review`);
    const description = tab.page.getByRole('region', { name: 'Description of echo' });
    await description.getByText('Says it twice.').waitFor();
    await description.getByText('Says it thrice.').waitFor();
    await tab.page.getByText('Before is what').waitFor();
    expect(await tab.page.getByText('Says it four times.').count()).toBe(0);
    await tab.check('system-review-later', { schemes: ['light'] });

    peer.tools = { ...peer.tools, echo: { description: 'Says it without end.', run: (text) => text } };
    await client.testStoredConnection({ path });
    await tab.page.getByRole('button', { name: 'Allow' }).click();
    await tab.page.getByText('Somebody has changed it meanwhile').waitFor();
    expect((await echoOf(client))?.enabled).toBe(false);
    await tab.page.getByRole('button', { name: 'Try again' }).click();
    await description.getByText('Says it without end.').waitFor();
    await tab.page.getByRole('button', { name: 'Allow' }).click();
    await tab.page.getByText('Nothing waits for review.').waitFor();
    expect((await echoOf(client))?.enabled).toBe(true);
  });

  it('decides about all but those that are defined otherwise than they are shown', async () => {
    const client = await world().client();
    const path = pathOfSystem();
    const defined = (echo: string, pay: string, count: string): typeof TOOLS => ({
      ...peer.tools,
      echo: { description: echo, run: (text) => text },
      pay: { description: pay, run: (text) => text },
      count: { description: count, run: (text) => text },
    });
    peer.tools = defined('Echo a.', 'Pay a.', 'Count a.');
    await client.testStoredConnection({ path });
    const tab = await world().as('admin', `${place}?view=review`);
    await tab.page.getByRole('button', { name: 'Allow all 3' }).waitFor();
    peer.tools = defined('Echo a.', 'Pay b.', 'Count b.');
    await client.testStoredConnection({ path });
    await tab.page.getByRole('button', { name: 'Allow all 3' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Allow', exact: true }).click();
    await tab.page.getByText('pay: It is defined otherwise by now').waitFor();
    await tab.page.getByText('count: It is defined otherwise by now').waitFor();
    const { data } = await client.getSystem({ path });
    const on = data.tools.filter(({ enabled }) => enabled).map(({ name }) => name);
    expect(on.toSorted()).toEqual(['echo', 'order']);
    await tab.page.getByRole('button', { name: 'Allow all 2' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Allow', exact: true }).click();
    await tab.page.getByText('Nothing waits for review.').waitFor();
  });

  it('switches several tools in a row, and none that somebody has switched meanwhile', async () => {
    const client = await world().client();
    const tab = await world().as('admin', place);
    const switchOf = (name: string) => tab.page.getByRole('switch', { name: `Agents may call ${name}` });
    await switchOf('pay').waitFor();
    for (const name of ['count', 'order', 'pay']) {
      await switchOf(name).click();
    }
    const off = tab.page.locator(':not(:checked)');
    await Promise.all(['count', 'order', 'pay'].map((name) => switchOf(name).and(off).waitFor()));
    expect(await tab.page.getByRole('alert').count()).toBe(0);

    const { data } = await client.getSystem({ path: pathOfSystem() });
    const toolId = data.tools.find(({ name }) => name === 'order')?.id ?? '';
    const systemId = data.id;
    await client.switchTool({ path: { ...pathOfSystem(), systemId, toolId }, body: { enabled: true } });
    await switchOf('count').click();
    await tab.page.getByText('Somebody has changed it meanwhile').waitFor();
    await switchOf('order').and(tab.page.locator(':checked')).waitFor();
    await switchOf('count').click();
    await switchOf('count').and(tab.page.locator(':checked')).waitFor();
  });

  it('changes nothing where the version of the system got lost on the way', async () => {
    const tab = await world().as('admin', '/systems');
    await tab.page.route('**/getById', async (route) => {
      const response = await route.fetch();
      const { etag: _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await tab.open(place);
    await tab.page.getByRole('switch', { name: 'Agents may call echo' }).click();
    await tab.page.getByText('The answer came without its version').waitFor();
    await tab.check('system-no-version', { schemes: ['light'] });
    expect((await echoOf(await world().client()))?.enabled).toBe(true);
    await tab.page.getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByText('The answer came without its version').waitFor();
  });

  it('calls a tool with arguments from its schema, and shows the answer as text', async () => {
    peer.tools = {
      ...peer.tools,
      echo: { description: 'Echo a.', run: (text) => `${text} ${MARKUP}` },
    };
    const tab = await world().as('admin', place);
    await tab.page.getByRole('button', { name: 'echo', exact: true }).click();
    await tab.page.getByText('Call it by hand').click();
    await tab.page.getByLabel('text', { exact: true }).fill('hello');
    await tab.page.getByRole('button', { name: 'Call', exact: true }).click();
    await tab.page.getByText('hello <img').waitFor();
    await tab.check('system-call');
    expect(await tab.page.title()).not.toBe('XSS');
  });

  it('does not offer calls to who may not make them', async () => {
    const tab = await world().as('integrator', place);
    await tab.page.getByRole('button', { name: 'echo', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'Input schema' }).waitFor();
    expect(await tab.page.getByText('Call it by hand').count()).toBe(0);
  });

  it('says in sentences that somebody was there before, that a test failed, and that the service is gone', async () => {
    const client = await world().client();
    const path = pathOfSystem();
    const tab = await world().as('admin', place);
    await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
    await client.updateSystem({ path, body: { description: 'changed by somebody else' } });
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('Mine');
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Somebody has changed it meanwhile').waitFor();
    await tab.check('system-conflict', { schemes: ['light'] });
    await tab.page.getByRole('button', { name: 'Read it again' }).click();
    await tab.page.getByText('changed by somebody else').waitFor();

    await client.updateSystem({ path, body: { baseUrl: 'http://127.0.0.1:1/mcp' } });
    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('Reach the server').waitFor();
    await tab.page.getByText('failed', { exact: true }).waitFor();
    await tab.check('system-test-failed', { schemes: ['light'] });

    await tab.page.route('**/test-mcp-connection', (route) => route.abort());
    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('The service does not answer').waitFor();
  });
});
