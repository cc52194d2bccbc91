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

  it('lists systems by application and version and renders names as text', async () => {
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
    await tab.page.getByLabel('Authentication').selectOption('API_KEY');
    // The scheme is prefilled for one header only.
    const [header, scheme] = [tab.page.getByLabel('Header'), tab.page.getByLabel('Scheme')];
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
    await tab.page.getByText('Secret replaced.').waitFor();

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
    await tab.page.getByRole('tab', { name: 'Details' }).click();
    await tab.page.getByText('X-Api-Key').waitFor();
    expect(await tab.page.getByText('undefined').count()).toBe(0);
    await change();
    // A new address requires the secret again; another spelling of the same address does not.
    const save = dialog.getByRole('button', { name: 'Save' });
    const address = dialog.getByLabel('Address of the MCP server');
    await address.fill(peer.url.replace('http:', 'HTTP:'));
    expect(await dialog.getByText('Enter it again', { exact: false }).count()).toBe(0);
    await address.fill('https://elsewhere.example.com/mcp');
    await dialog.getByText('Enter it again', { exact: false }).waitFor();
    expect(await save.isDisabled()).toBe(true);
    await tab.check('systems-change-address');
    await dialog.getByLabel('API key (required)').fill('a-third-key-of-ours');
    expect(await save.isDisabled()).toBe(false);
    expect(await dialog.getByText('Enter it again', { exact: false }).count()).toBe(0);
    await address.fill(peer.url);
    await dialog.getByLabel('API key').fill('');
    await dialog.getByText('Certificates', { exact: true }).click();
    const agent = await authority.issue({ name: 'agent' });
    await dialog.getByLabel('CA certificates').fill(authority.cert);
    await dialog.getByLabel('Client certificate (PEM)', { exact: true }).fill(agent.cert);
    await dialog.getByLabel('Client certificate key').fill(agent.key);
    // New CAs require it, too: they decide who can receive the secret.
    await dialog.getByText('Enter it again', { exact: false }).waitFor();
    await dialog.getByLabel('API key').fill('another-key-of-ours');
    await saved();
    await change();
    await dialog.getByText('Stored: CN=agent').waitFor();
    expect(await dialog.getByLabel('Client certificate key').inputValue()).toBe('');
    await tab.check('systems-certificates', { schemes: ['light'] });
    await dialog.getByLabel('Remove the client certificate').check();
    await saved();
    await change();
    await dialog.getByLabel('Trust the built-in CAs again').waitFor();
    await dialog.getByText('Stored: CN=agent').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await tab.page.getByRole('button', { name: 'Test connection' }).click();
    await tab.page.getByText('Credentials travel unencrypted', { exact: false }).waitFor();

    await tab.page.getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByText('System deleted.').waitFor();
  });

  it('stores scope, token request fields, static headers and timeout, and hides header values', async () => {
    const tab = await world().as('integrator', '/systems/register?app=shop&version=v3');
    const { page } = tab;
    await page.getByLabel('Resource name').fill('billing');
    await page.getByLabel('Name (required)', { exact: true }).fill('Billing');
    await page.getByLabel('Address of the MCP server').fill(peer.url);
    await page.getByLabel('Authentication').selectOption('SERVICE_ACCOUNT');
    await page.getByLabel('Client id').fill('billing-client');
    await page.getByLabel('Token endpoint').fill('https://sso.example.com/token');
    await page.getByLabel('Scope').fill('billing.read');
    await page.getByLabel('Additional token request fields').fill('audience=https://billing.example.com');
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
    await page.getByLabel('Tool call timeout').fill('45000');
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
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.getByText('X-Client, X-Tenant').waitFor();
    await page.getByText('billing.read').waitFor();
    expect(await page.content()).not.toContain('canary');

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByText('Stored: X-Client, X-Tenant').waitFor();
    expect(await dialog.getByLabel('Scope').inputValue()).toBe('billing.read');
    // A new address requires the headers again, too.
    await dialog.getByLabel('Address of the MCP server').fill('https://elsewhere.example.com/mcp');
    await dialog.getByLabel('Client secret (required)').fill('a-secret-of-ours');
    const save = dialog.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('Remove the stored headers').check();
    expect(await save.isDisabled()).toBe(false);
    await dialog.getByLabel('Tool call timeout').fill('');
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    const changed = await stored();
    expect(changed.baseUrl).toBe('https://elsewhere.example.com/mcp');
    expect(changed).not.toHaveProperty('headerNames');
    expect(changed).not.toHaveProperty('timeoutMs');
  });

  it('rejects an invalid timeout and incomplete headers, and replaces header values', async () => {
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
    const timeout = dialog.getByLabel('Tool call timeout');
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
    const again = dialog.getByText('Enter it again', { exact: false });
    await dialog.getByLabel('Address of the MCP server').fill('https://elsewhere.example.com/mcp');
    await again.waitFor();
    await add.click();
    // The name is prefilled, but the value is missing.
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('Value of header 1').fill('canary-two');
    expect(await again.count()).toBe(0);
    expect(await save.isDisabled()).toBe(false);
    await add.click();
    await dialog.getByLabel('Value of header 2').fill('canary-three');
    await dialog.getByText('This field is required.').waitFor();
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
    await tab.page.getByText('Secret replaced.').waitFor();
    await tab.page.getByRole('tab', { name: 'History' }).click();
    await tab.page.getByText('headers').first().waitFor();
  });

  it('tests a connection step by step and reviews its tools', async () => {
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
    await tab.page.getByText('Decision saved.').waitFor();

    await tab.page.getByRole('tab', { name: 'History' }).click();
    await tab.page.getByText('tool.switch').first().waitFor();
    await tab.check('system-history');
    await tab.page.getByRole('tab', { name: 'Details' }).click();
    await tab.check('system-facts', { schemes: ['light'] });
    await tab.page.getByRole('tab', { name: 'Uses' }).click();
    await tab.page.getByText('No agents use this system.').waitFor();
  });

  it('decides about several tools at once', async () => {
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
    await tab.page.getByText('Nothing to review.').waitFor();
    const { data } = await client.getSystem({ path });
    expect(data.tools.filter(({ enabled }) => enabled)).toHaveLength(4);
  });

  it('compares with the last reviewed definition, also after several changes', async () => {
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
    await tab.page.getByText('Compared with what').waitFor();
    expect(await tab.page.getByText('Says it four times.').count()).toBe(0);
    await tab.check('system-review-later', { schemes: ['light'] });

    peer.tools = { ...peer.tools, echo: { description: 'Says it without end.', run: (text) => text } };
    await client.testStoredConnection({ path });
    await tab.page.getByRole('button', { name: 'Allow' }).click();
    await tab.page.getByText('Someone else has changed it').waitFor();
    expect((await echoOf(client))?.enabled).toBe(false);
    await tab.page.getByRole('button', { name: 'Try again' }).click();
    await description.getByText('Says it without end.').waitFor();
    await tab.page.getByRole('button', { name: 'Allow' }).click();
    await tab.page.getByText('Nothing to review.').waitFor();
    expect((await echoOf(client))?.enabled).toBe(true);
  });

  it('skips tools whose definition changed since they were shown', async () => {
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
    await tab.page.getByText('pay: The definition has changed').waitFor();
    await tab.page.getByText('count: The definition has changed').waitFor();
    const { data } = await client.getSystem({ path });
    const on = data.tools.filter(({ enabled }) => enabled).map(({ name }) => name);
    expect(on.toSorted()).toEqual(['echo', 'order']);
    await tab.page.getByRole('button', { name: 'Allow all 2' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Allow', exact: true }).click();
    await tab.page.getByText('Nothing to review.').waitFor();
  });

  it('switches several tools in a row, but not after changes by someone else', async () => {
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
    await tab.page.getByText('Someone else has changed it').waitFor();
    await switchOf('order').and(tab.page.locator(':checked')).waitFor();
    await switchOf('count').click();
    await switchOf('count').and(tab.page.locator(':checked')).waitFor();
  });

  it('changes nothing if the ETag of the system got lost', async () => {
    const tab = await world().as('admin', '/systems');
    await tab.page.route('**/getById', async (route) => {
      const response = await route.fetch();
      const { etag: _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await tab.open(place);
    await tab.page.getByRole('switch', { name: 'Agents may call echo' }).click();
    await tab.page.getByText('The response has no ETag').waitFor();
    await tab.check('system-no-version', { schemes: ['light'] });
    expect((await echoOf(await world().client()))?.enabled).toBe(true);
    await tab.page.getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByText('The response has no ETag').waitFor();
  });

  it('calls a tool with a form from its schema and renders the answer as text', async () => {
    peer.tools = {
      ...peer.tools,
      echo: { description: 'Echo a.', run: (text) => `${text} ${MARKUP}` },
    };
    const tab = await world().as('admin', place);
    await tab.page.getByRole('button', { name: 'echo', exact: true }).click();
    await tab.page.getByText('Call this tool').click();
    await tab.page.getByLabel('text', { exact: true }).fill('hello');
    await tab.page.getByRole('button', { name: 'Call', exact: true }).click();
    await tab.page.getByText('hello <img').waitFor();
    await tab.check('system-call');
    expect(await tab.page.title()).not.toBe('XSS');
  });

  it('does not offer calls without tool-call', async () => {
    const tab = await world().as('integrator', place);
    await tab.page.getByRole('button', { name: 'echo', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'Input schema' }).waitFor();
    expect(await tab.page.getByText('Call this tool').count()).toBe(0);
  });

  it('reports a conflicting change, a failed test, and a service that does not answer', async () => {
    const client = await world().client();
    const path = pathOfSystem();
    const tab = await world().as('admin', place);
    await tab.page.getByRole('button', { name: 'Change', exact: true }).click();
    await client.updateSystem({ path, body: { description: 'changed by someone else' } });
    await tab.page.getByLabel('Name (required)', { exact: true }).fill('Mine');
    await tab.page.getByRole('button', { name: 'Save' }).click();
    await tab.page.getByText('Someone else has changed it').waitFor();
    await tab.check('system-conflict', { schemes: ['light'] });
    await tab.page.getByRole('button', { name: 'Refresh' }).click();
    await tab.page.getByText('changed by someone else').waitFor();

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
