import { describe, expect, it } from 'vitest';
import { useConsole } from './support/console-world.js';

describe('signing in at the console', () => {
  const world = useConsole();

  it('leads to the issuer and back to the page where the person was', async () => {
    const tab = await world().as('admin', '/about?from=link');
    expect(tab.page.url()).toBe(`${world().app.url}/console/about?from=link`);
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
    await tab.page.getByText('Ada Admin').waitFor();
  });

  it('shows a place to sign in, and nothing else', async () => {
    const tab = await world().tab('/about');
    await tab.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await tab.page.getByRole('navigation').count()).toBe(0);
    await tab.check('sign-in');
  });

  it('keeps no token where a page could read it later, and signs in again after a reload', async () => {
    const tab = await world().as('admin', '/about');
    const kept = await tab.page.evaluate<string>(
      'JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])',
    );
    expect(kept).not.toMatch(/eyJ|access_token|refresh_token/);
    await tab.page.reload();
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
    await tab.page.getByText('Ada Admin').waitFor();
  });

  it('ends here and at the issuer', async () => {
    const tab = await world().as('admin');
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.waitForURL(`${world().provider.url}/**`);
  });

  it('offers nothing that the person may not do', async () => {
    const admin = await world().as('admin');
    const clerk = await world().as('clerk', '/about');
    await clerk.page.getByText('Your sign-in grants no permission.').waitFor();
    const entries = (tab: typeof admin) =>
      tab.page.getByRole('navigation', { name: 'Areas' }).getByRole('link').count();
    expect(await entries(clerk)).toBeLessThanOrEqual(await entries(admin));
  });
});

describe('a sign-in that has ended', () => {
  const world = useConsole({ provider: { hasRefreshTokens: false, tokenSeconds: 300 } });

  it('is told with what to do, on the page as it is', async () => {
    const tab = await world().as('operator');
    await tab.page.route('**/rtm/api/runtime/**', (route) =>
      route.fulfill({ status: 401, json: { message: 'gone' } }),
    );
    await tab.open('/about');
    await tab.open('/');
    await tab.page.getByText('Your sign-in has ended.', { exact: false }).first().waitFor();
    await tab.page.getByRole('button', { name: 'Sign in again' }).waitFor();
  });

  it('begins within a frame where the issuer gives no refresh token', async () => {
    const tab = await world().as('operator');
    const silent = tab.page.waitForResponse((response) => response.url().includes('/console/silent'));
    await tab.page.clock.install();
    await tab.page.clock.fastForward(290_000);
    expect((await silent).status()).toBe(200);
  });
});

describe('without a client for the console', () => {
  const world = useConsole({ settings: { CONSOLE_OIDC_CLIENT_ID: '' } });

  it('says what an operator has to do', async () => {
    const tab = await world().tab();
    await tab.page.getByText('CONSOLE_OIDC_CLIENT_ID').waitFor();
    await tab.check('sign-in-no-client');
  });
});
