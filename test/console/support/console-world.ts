import { chromium, type Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { connect, type SvcClient } from '../../../packages/client/src/index.js';
import { deliverSample } from '../../../src/evaluation/sample-application.js';
import { TestApp } from '../../support/app.js';
import { chromiumPath } from './chromium.js';
import { PERSONAS, type Persona, type PersonaName } from './personas.js';
import { CONSOLE_CLIENT, SignInProvider } from './sign-in-provider.js';
import { Tab } from './tab.js';

interface WorldOptions {
  /** Settings of the service. */
  settings?: Record<string, string>;
  provider?: Parameters<typeof SignInProvider.start>[0];
}

/** The service, an identity provider, and a browser. */
export class ConsoleWorld {
  private readonly tabs: Tab[] = [];

  private constructor(
    readonly app: TestApp,
    readonly provider: SignInProvider,
    private readonly browser: Browser,
  ) {}

  static async start({ settings = {}, provider: options }: WorldOptions = {}): Promise<ConsoleWorld> {
    const executablePath = chromiumPath();
    if (executablePath === undefined) {
      throw new Error('Chromium is not installed; set CHROMIUM to its path');
    }
    const provider = await SignInProvider.start(options);
    const app = await TestApp.start({
      OIDC_ISSUER: provider.url,
      CONSOLE_OIDC_CLIENT_ID: CONSOLE_CLIENT,
      ...settings,
    });
    provider.register(app.url);
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    return new ConsoleWorld(app, provider, browser);
  }

  /** Returns a client of the service to create test data. */
  async client(who: PersonaName | Persona = 'admin'): Promise<SvcClient> {
    const token = await this.provider.token(personaOf(who));
    return connect({ url: this.app.url, token });
  }

  /** Delivers the sample application with its processes, systems, workflows and agents. */
  deliverSample(): Promise<string> {
    return deliverSample(this.app.nest, 'sample');
  }

  /**
   * Stops the service from listening and closes all connections.
   * @returns a function that brings it back
   */
  async takeAway(): Promise<() => Promise<void>> {
    const server = this.app.nest.getHttpServer();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    const port = Number(new URL(this.app.url).port);
    return () => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  }

  /** Opens a tab without signing in. @param url address of the service */
  async tab(path = '/', url = this.app.url): Promise<Tab> {
    const context = await this.browser.newContext({
      viewport: { width: 1_600, height: 900 },
      // Colors in transition would fail the contrast check.
      reducedMotion: 'reduce',
    });
    const tab = await Tab.in(context, url);
    this.tabs.push(tab);
    await tab.open(path);
    return tab;
  }

  /** Opens a tab at a path and signs in. */
  async as(who: PersonaName | Persona, path = '/'): Promise<Tab> {
    const persona = personaOf(who);
    this.provider.add(persona);
    const tab = await this.tab(path);
    await tab.page.getByRole('button', { name: 'Sign in' }).click();
    await tab.page.getByRole('button', { name: persona.name }).click();
    await tab.page.getByRole('navigation', { name: 'Areas' }).waitFor({ state: 'attached' });
    await tab.settled();
    return tab;
  }

  /**
   * Closes all tabs.
   * @throws Error if one of them has problems
   */
  async closeTabs(): Promise<void> {
    const tabs = this.tabs.splice(0);
    await Promise.all(tabs.map((tab) => tab.close()));
    const problems = tabs.flatMap((tab) => tab.problems);
    if (problems.length > 0) {
      throw new Error(`Problems in the console:\n${problems.join('\n')}`);
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.app.close();
    await this.provider.stop();
  }
}

/** Starts a world for a test file. Closes all tabs after each test and fails the test if one has problems. */
export function useConsole(options: WorldOptions = {}): () => ConsoleWorld {
  let world: ConsoleWorld | undefined;
  beforeAll(async () => {
    world = await ConsoleWorld.start(options);
  });
  afterEach(() => world?.closeTabs());
  afterAll(() => world?.close());
  return () => {
    if (world === undefined) {
      throw new Error('the console world has not started');
    }
    return world;
  };
}

function personaOf(who: PersonaName | Persona): Persona {
  return typeof who === 'string' ? PERSONAS[who] : who;
}
