import { decodeJwt, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEvaluation, type EvaluationService } from '../support/evaluation-service.js';
import { useConsole } from './support/console-world.js';
import { CONSOLE_CLIENT } from './support/sign-in-provider.js';
import type { Tab } from './support/tab.js';

/** Replaces each ID token on its way to the console. */
async function replaceIdToken(
  tab: Tab,
  changed: (claims: JWTPayload) => string | Promise<string>,
): Promise<void> {
  await tab.page.route('**/token', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { id_token: string };
    await route.fulfill({ response, json: { ...body, id_token: await changed(decodeJwt(body.id_token)) } });
  });
}

/** Waits for the next token response of the issuer. */
async function nextTokens(tab: Tab, grantType: string): Promise<{ status: number; refreshToken: string }> {
  const response = await tab.page.waitForResponse(
    (answer) =>
      answer.url().endsWith('/token') && answer.request().postData()?.includes(`=${grantType}`) === true,
  );
  const body = (await response.json()) as { refresh_token?: string };
  return { status: response.status(), refreshToken: body.refresh_token ?? '' };
}

describe('signing in at the console', () => {
  const world = useConsole();

  it('redirects to the issuer and back to the same page', async () => {
    const tab = await world().as('admin', '/about?from=link');
    expect(tab.page.url()).toBe(`${world().app.url}/console/about?from=link`);
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
    await tab.page.getByText('Ada Admin').waitFor();
  });

  it('shows only the sign-in page before signing in', async () => {
    const tab = await world().tab('/about');
    await tab.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await tab.page.getByRole('navigation').count()).toBe(0);
    await tab.check('sign-in');
  });

  it('stores no tokens and signs in again after a reload', async () => {
    const tab = await world().as('admin', '/about');
    const kept = await tab.page.evaluate<string>(
      'JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])',
    );
    expect(kept).not.toMatch(/eyJ|access_token|refresh_token/);
    await tab.page.reload();
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
    await tab.page.getByText('Ada Admin').waitFor();
  });

  it('signs out here and at the issuer', async () => {
    const tab = await world().as('admin');
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.waitForURL(`${world().provider.url}/**`);
  });

  it('reports that the issuer does not answer and continues when it is back', async () => {
    const tab = await world().tab('/about');
    const issuer = `${world().provider.url}/**`;
    await tab.page.route(issuer, (route) => route.abort());
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByText('Your identity provider does not answer').waitFor();
    await tab.check('sign-in-no-issuer', { schemes: ['light'] });
    await tab.page.unroute(issuer);
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('button', { name: 'ada.admin' }).click();
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
  });

  it('hides areas that the user may not see', async () => {
    const admin = await world().as('admin');
    const clerk = await world().as('clerk', '/about');
    await clerk.page.getByText('You have no permissions.').waitFor();
    const entries = (tab: typeof admin) =>
      tab.page.getByRole('navigation', { name: 'Areas' }).getByRole('link').count();
    expect(await entries(clerk)).toBeLessThanOrEqual(await entries(admin));
  });
});

describe('an ID token', () => {
  const world = useConsole();
  const past = Math.floor(Date.now() / 1_000) - 3_600;

  it.each<[why: string, changes: Record<string, unknown>, isForged?: boolean]>([
    ['is not signed with a key of the issuer', {}, true],
    ['comes from another issuer', { iss: 'https://elsewhere.example.com' }],
    ['was issued for another client', { aud: 'another-client' }],
    ['was issued for another client', { aud: [CONSOLE_CLIENT, 'another-client'], azp: 'another-client' }],
    ['belongs to another sign-in', { nonce: 'another' }],
    ['belongs to another sign-in', { nonce: undefined }],
    ['has expired', { exp: past }],
    ['is malformed', { exp: undefined }],
  ])('that %s is rejected: %j', async (why, changes, isForged = false) => {
    const tab = await world().tab('/about');
    await replaceIdToken(tab, (claims) => world().provider.idToken({ ...claims, ...changes }, isForged));
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('button', { name: 'ada.admin' }).click();
    await tab.page.getByText('could not be verified').waitFor();
    await tab.page.getByText(why, { exact: false }).waitFor();
    expect(await tab.page.getByRole('navigation').count()).toBe(0);
  });

  it('that is unsigned is rejected, also on renewal', async () => {
    const tab = await world().tab('/about');
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    await replaceIdToken(
      tab,
      (claims) => `${none}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`,
    );
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('button', { name: 'ada.admin' }).click();
    await tab.page.getByText('could not be verified').waitFor();
    await tab.check('sign-in-id-token');

    await tab.page.unroute('**/token');
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByText('Ada Admin').waitFor();
    await replaceIdToken(tab, (claims) => world().provider.idToken(claims, true));
    await tab.page.clock.install();
    await tab.page.clock.fastForward(290_000);
    await tab.page.getByText('Your session has ended', { exact: false }).first().waitFor();
  });
});

describe('an issuer that refuses a sign-in', () => {
  const world = useConsole();

  it.each([
    ['access_denied', 'Your identity provider denied access, or you canceled.'],
    ['unauthorized_client', 'Your identity provider does not accept the console.'],
    ['invalid_scope', 'An operator has to check CONSOLE_OIDC_SCOPE.'],
    ['temporarily_unavailable', 'Your identity provider has a problem.'],
    ['<b>new</b>', 'Your identity provider returned the error "<b>new</b>".'],
  ])('with %s is explained, with its message', async (error, sentence) => {
    const tab = await world().tab('/about');
    await tab.page.route(`${world().provider.url}/auth?**`, (route) => {
      const sent = new URL(route.request().url()).searchParams;
      const answer = new URL(sent.get('redirect_uri') ?? '');
      const members = {
        state: sent.get('state') ?? '',
        error,
        error_description: `Ask <i>Jo</i>. ${'x'.repeat(900)}`,
      };
      Object.entries(members).forEach(([name, value]) => answer.searchParams.set(name, value));
      return route.fulfill({ status: 302, headers: { location: answer.href } });
    });
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByText(sentence, { exact: false }).waitFor();
    expect(
      await tab.page.getByText('It says: “Ask <i>Jo</i>. xxx', { exact: false }).innerText(),
    ).toHaveLength(311);
    await tab.check('sign-in-refused');
  });
});

describe.each([
  ['revokes', true],
  ['does not revoke', false],
])('signing out with and without a revocation endpoint', (what, hasRevocation) => {
  const world = useConsole({ provider: { hasRevocation } });

  it(`${what} the refresh token and redirects to the issuer`, async () => {
    const tab = await world().tab();
    const tokens = nextTokens(tab, 'authorization_code');
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('button', { name: 'ada.admin' }).click();
    const { refreshToken } = await tokens;
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.waitForURL(`${world().provider.url}/session/end**`);
    expect(await world().provider.refresh(refreshToken)).toBe(hasRevocation ? 400 : 200);
  });
});

describe('an issuer with token endpoints at another origin', () => {
  const world = useConsole({ provider: { hasTokensElsewhere: true } });

  it('signs users in, renews their tokens and revokes them', async () => {
    const tab = await world().tab();
    const tokens = nextTokens(tab, 'authorization_code');
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('button', { name: 'ada.admin' }).click();
    expect((await tokens).status).toBe(200);
    await tab.page.getByText('Ada Admin').waitFor();

    const renewed = nextTokens(tab, 'refresh_token');
    await tab.page.clock.install();
    await tab.page.clock.fastForward(290_000);
    const { status, refreshToken } = await renewed;
    expect(status).toBe(200);
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.waitForURL(`${world().provider.url}/session/end**`);
    expect(await world().provider.refresh(refreshToken)).toBe(400);
  });
});

describe('an expiring token', () => {
  const settings = { 'tokenLimits.clockToleranceSeconds': '0' };
  const world = useConsole({ settings, provider: { tokenSeconds: 8 } });

  it('is renewed by the refresh token without interruption', async () => {
    await world().deliverSample();
    const tab = await world().as('clerk', '/tasks/start?app=sample&process=loan_onboarding');
    await tab.page.getByLabel('name').fill('Typed before');
    for (let renewals = 0; renewals < 3; renewals += 1) {
      expect((await nextTokens(tab, 'refresh_token')).status).toBe(200);
    }
    // By now the first token has expired.
    await tab.page.waitForTimeout(8_000);
    await tab.page.getByRole('button', { name: 'Start', exact: true }).click();
    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
    expect(await tab.page.getByText('Your session has ended').count()).toBe(0);
  });

  it('that cannot be renewed is reported, and the page keeps its input', async () => {
    const place = '/tasks/start?app=sample&process=loan_onboarding';
    const tab = await world().as('clerk', place);
    await tab.page.getByLabel('name').fill('Typed before');
    await world().provider.endGrants();
    await tab.page.getByText('What you typed is still here', { exact: false }).waitFor();
    await tab.page.waitForTimeout(8_000);
    const start = tab.page.getByRole('button', { name: 'Start', exact: true });
    await start.click();
    await tab.page.getByText('Sign in again to continue.').waitFor();
    expect(await tab.page.getByLabel('name').inputValue()).toBe('Typed before');
    expect(tab.page.url()).toBe(`${world().app.url}/console${place}`);
    await tab.check('sign-in-ended', { schemes: ['light'] });

    await tab.page.getByRole('button', { name: 'Sign in again' }).click();
    // The session at the issuer still exists, so it redirects back at once.
    await tab.page.getByLabel('name').fill('Typed again');
    await start.click();
    await tab.page.getByRole('heading', { name: 'Complete application', level: 1 }).waitFor();
  });
});

describe('a token of an issuer without refresh tokens', () => {
  const world = useConsole({ provider: { hasRefreshTokens: false, tokenSeconds: 300 } });

  it('is renewed within a frame', async () => {
    const tab = await world().as('operator');
    const silent = tab.page.waitForResponse((response) => response.url().includes('/console/silent'));
    await tab.page.clock.install();
    await tab.page.clock.fastForward(290_000);
    expect((await silent).status()).toBe(200);
  });
});

describe('signing in in evaluation mode', () => {
  const world = useConsole();
  let service: EvaluationService;
  beforeAll(async () => {
    service = await startEvaluation();
  });
  afterAll(() => service.stop());

  it('lets the user choose an identity until they sign out', async () => {
    const tab = await world().tab('/about', service.url);
    await tab.page.getByText('Evaluation mode, this machine only.', { exact: false }).waitFor();
    await tab.check('sign-in-evaluation');
    await tab.page.getByLabel('Name').fill('otto.operator');
    for (const name of await tab.page.getByRole('checkbox').all()) {
      await name.uncheck();
    }
    await tab.page.getByLabel('process-read').check();
    await tab.page.getByLabel('Further permissions').fill('loan-clerk, loan-manager');
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
    await tab.page.getByText('otto.operator').first().waitFor();
    await tab.page.getByText('process-read').waitFor();
    await tab.page.getByText('loan-clerk').waitFor();
    await tab.page.getByText('loan-manager').waitFor();
    expect(await tab.page.getByText('application-delivery').count()).toBe(0);
    // A reload or another tab keeps the user signed in.
    await tab.page.reload();
    await tab.page.getByText('process-read').waitFor();
    const other = await tab.page.context().newPage();
    await other.goto(`${service.url}/console/about`);
    await other.getByText('otto.operator').first().waitFor();
    await other.close();

    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await tab.page.reload();
    await tab.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await tab.page.getByRole('navigation').count()).toBe(0);
  });

  it('offers tool calls, and clears the ended session after signing in again', async () => {
    const tab = await world().tab('/about', service.url);
    await tab.page.getByLabel('tool-call').waitFor();
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('heading', { name: 'About', level: 1 }).waitFor();
    const caller = await tab.page.request.post(`${service.url}/console/evaluation/sign-in`, {
      headers: { origin: service.url },
      data: { subject: 'jane.doe' },
    });
    const { accessToken } = (await caller.json()) as { accessToken: string };
    const me = await tab.page.request.get(`${service.url}/rtm/api/me`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(await me.json()).toMatchObject({ asked: { toolCall: 'tool-call' } });

    const refused = {
      status: 401,
      json: { error: 'Unauthorized', message: 'Authentication required or failed.' },
    };
    await tab.page.route('**/rtm/api/runtime/**', (route) => route.fulfill(refused));
    await tab.open('/tasks');
    await tab.page.getByText('Your session has ended.', { exact: false }).waitFor();
    await tab.page.getByText('Sign in again to continue.').waitFor();
    await tab.page.unroute('**/rtm/api/runtime/**');
    await tab.page.getByRole('button', { name: 'Sign in again' }).click();
    await tab.page
      .getByText('Your session has ended', { exact: false })
      .first()
      .waitFor({ state: 'detached' });
    await tab.page.getByText('Nothing is waiting for you', { exact: false }).waitFor();
  });

  it('reports that the service does not answer and keeps the input', async () => {
    const tab = await world().tab('/', service.url);
    await tab.page.getByLabel('Name').fill('otto.operator');
    await tab.page.route('**/console/evaluation/sign-in', (route) => route.abort());
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByText('The service does not answer').waitFor();
    expect(await tab.page.getByLabel('Name').inputValue()).toBe('otto.operator');
    await tab.page.unroute('**/console/evaluation/sign-in');
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('navigation', { name: 'Areas' }).waitFor({ state: 'attached' });
  });
});

describe('signing in without a console client', () => {
  const world = useConsole({ settings: { CONSOLE_OIDC_CLIENT_ID: '' } });

  it('explains what an operator has to do', async () => {
    const tab = await world().tab();
    await tab.page.getByText('CONSOLE_OIDC_CLIENT_ID').waitFor();
    await tab.check('sign-in-no-client');
  });
});
