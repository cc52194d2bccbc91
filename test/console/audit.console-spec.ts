import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Tab } from './support/tab.js';
import { useConsole } from './support/console-world.js';

describe('Audit', () => {
  const world = useConsole();
  beforeAll(async () => {
    const payload = {
      name: 'Stock',
      type: 'MCP' as const,
      baseUrl: 'https://mcp.example.com/mcp',
      authorization: { type: 'NO_AUTH' as const },
    };
    for (const [index, who] of (['admin', 'integrator'] as const).entries()) {
      const client = await world().client(who);
      for (let made = 0; made < 40; made += 1) {
        const body = { action: 'CREATE' as const, resourceName: `stock-${index}-${made}`, payload };
        await client.createSystem({ path: { appId: 'shop', versionId: 'v1' }, body });
      }
    }
  });

  const exported = async (tab: Tab, button: string): Promise<string> => {
    const [file] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.page.getByRole('button', { name: button }).click(),
    ]);
    return readFile(await file.path(), 'utf8');
  };

  it('lists events page by page, with filters in the address', async () => {
    const tab = await world().as('admin', '/audit?app=shop');
    await tab.page.getByText('50 shown').waitFor();
    await tab.page.getByRole('button', { name: 'Show more' }).click();
    await tab.page.getByText('80 shown').waitFor();
    await tab.open('/audit?app=shop&actor=setup-ina.integrator');
    await tab.page.getByText('40 shown').waitFor();
    await tab.page.getByLabel('Action', { exact: true }).selectOption('tool.switch');
    await tab.page.getByText('No events match.').waitFor();
    expect(tab.page.url()).toContain('action=tool.switch');
    await tab.open('/audit?app=shop&outcome=ok');
    await tab.page.getByText('50 shown').waitFor();
    await tab.check('audit');
  });

  it('exports all pages of the filtered events', async () => {
    const tab = await world().as('admin', '/audit?app=shop');
    const events = JSON.parse(await exported(tab, 'As JSON')) as unknown[];
    expect(events).toHaveLength(80);
    const lines = (await exported(tab, 'As CSV')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(81);
    expect(lines[0]).toContain('timestamp,action,outcome,userName');
  });

  it('reports that the service stopped answering during an export', async () => {
    const tab = await world().as('admin', '/audit?app=shop');
    await tab.page.getByText('50 shown').waitFor();
    await tab.page.route('**/audit?*limit=100*', (route) => route.abort());
    await tab.page.getByRole('button', { name: 'As CSV' }).click();
    await tab.page.getByText('The service does not answer').waitFor();
  });

  it('lets users who may not list applications type an id', async () => {
    const tab = await world().as('integrator', '/audit');
    await tab.page.getByLabel('Application').fill('shop');
    await tab.page.getByText('50 shown').waitFor();
    await tab.check('audit-integrator', { schemes: ['light'] });
  });
});
