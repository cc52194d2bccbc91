import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolsPeer, type CountedTool, type ToolsPeer } from '../support/peers/tools.peer.js';
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
  let place: string;
  beforeAll(async () => {
    peer = await startToolsPeer(TOOLS);
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
  afterAll(() => peer.close());

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

    await tab.page.getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await tab.page.getByText('The system is deleted.').waitFor();
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
    const path = { ...VERSION, systemResourceId: place.split('/').at(-1) ?? '' };
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

  it('knows from the audit log what a tool was before, also after the page was left', async () => {
    peer.tools = { ...peer.tools, echo: { description: 'Says it thrice.', run: (text) => text } };
    const client = await world().client();
    await client.testStoredConnection({
      path: { ...VERSION, systemResourceId: place.split('/').at(-1) ?? '' },
    });
    const tab = await world().as('admin', `${place}?view=review`);
    await tab.page.getByRole('region', { name: 'Description of echo' }).getByText('Says it twice.').waitFor();
    await tab.page.getByRole('button', { name: 'Allow' }).click();
    await tab.page.getByText('Nothing waits for review.').waitFor();
  });

  it('calls a tool with arguments from its schema, and shows the answer as text', async () => {
    peer.tools = {
      ...peer.tools,
      echo: { description: 'Says it thrice.', run: (text) => `${text} ${MARKUP}` },
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
    const path = { ...VERSION, systemResourceId: place.split('/').at(-1) ?? '' };
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
