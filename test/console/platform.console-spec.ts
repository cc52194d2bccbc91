import { beforeAll, describe, it } from 'vitest';
import { useConsole } from './support/console-world.js';

describe('Platform', () => {
  const world = useConsole();
  beforeAll(async () => {
    await world().deliverSample();
  });

  it('is scanned by a click, and shown as a board', async () => {
    const tab = await world().as('admin', '/platform');
    await tab.page.getByText('The platform was not scanned yet.').waitFor();
    await tab.page.getByRole('button', { name: 'Scan now' }).click();
    await tab.page.getByRole('heading', { name: 'svc-platform' }).waitFor();
    await tab.check('platform');
    await tab.page.getByRole('link', { name: 'History of its health' }).first().click();
    await tab.page.getByRole('heading', { name: 'Changes', level: 1 }).waitFor();
    await tab.settled();
    await tab.check('platform-changes', { schemes: ['light'] });
  });

  it('shows earlier scans as they were', async () => {
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

  it('says in a sentence that a scan was refused', async () => {
    const tab = await world().as('admin', '/platform');
    await tab.page.route('**/api/platform/discover', (route) =>
      route.fulfill({ status: 503, json: { status: 503, error: 'Service Unavailable', message: 'Busy.' } }),
    );
    await tab.page.getByRole('button', { name: 'Scan now' }).click();
    await tab.page.getByText('The service is busy or cannot reach its database').waitFor();
  });
});
