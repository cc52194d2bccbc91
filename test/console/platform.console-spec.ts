import { beforeAll, describe, it } from 'vitest';
import { useConsole } from './support/console-world.js';

describe('Platform', () => {
  const world = useConsole();
  beforeAll(async () => {
    await world().deliverSample();
  });

  it('can be scanned, and shows all components', async () => {
    const tab = await world().as('admin', '/platform');
    await tab.page.getByText('The platform has not been scanned yet.').waitFor();
    await tab.page.getByRole('button', { name: 'Scan now' }).click();
    await tab.page.getByRole('heading', { name: 'svc-platform' }).waitFor();
    await tab.check('platform');
    await tab.page.getByRole('link', { name: 'Health history' }).first().click();
    await tab.page.getByRole('heading', { name: 'Changes', level: 1 }).waitFor();
    await tab.settled();
    await tab.check('platform-changes', { schemes: ['light'] });
  });

  it('shows older scans', async () => {
    const svc = await world().client();
    await svc.discoverPlatform();
    await svc.discoverPlatform();
    const tab = await world().as('admin', '/platform/scans');
    await tab.page.getByRole('table').waitFor();
    await tab.check('platform-scans', { schemes: ['light'] });
    await tab.page.getByRole('row').last().getByRole('link').click();
    await tab.page.getByText('This is an older scan.').waitFor();
    await tab.page.getByRole('link', { name: 'Show the newest' }).click();
    await tab.page.getByText('This is an older scan.').waitFor({ state: 'detached' });
  });

  it('reports that a scan was rejected', async () => {
    const tab = await world().as('admin', '/platform');
    await tab.page.route('**/api/platform/discover', (route) =>
      route.fulfill({ status: 503, json: { status: 503, error: 'Service Unavailable', message: 'Busy.' } }),
    );
    await tab.page.getByRole('button', { name: 'Scan now' }).click();
    await tab.page.getByText('The service is busy or cannot reach its database').waitFor();
  });
});
