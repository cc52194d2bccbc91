import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { PATIENCE_MS } from '../../support/patience.js';

const SCREENSHOTS = '.cache/console-screenshots';
/** CI deletes its checkout, and no test reads the pictures. */
const TAKES_PICTURES = process.env['CI'] === undefined;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Runs in the page. This is text, since what is compiled here knows nothing of browsers. */
const NOTE_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  noteViolation(event.violatedDirective + ' ' + event.blockedURI + ' at ' + event.sourceFile + ':' + event.lineNumber))`;
const WIDTHS = [400, 900, 1600] as const;
const HEIGHT = 900;
const SCHEMES = ['light', 'dark'] as const;
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What is looked at. */
export interface CheckOptions {
  widths?: readonly number[];
  schemes?: readonly ('light' | 'dark')[];
}

/** A tab of the browser in which somebody uses the console. Whatever breaks the policy of the page or throws in it is noted. */
export class Tab {
  /** What went wrong that no test asked for. */
  readonly problems: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly url: string,
  ) {}

  static async in(context: BrowserContext, url: string): Promise<Tab> {
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const tab = new Tab(page, context, url);
    await page.exposeBinding('noteViolation', (_source, text: string) =>
      tab.problems.push(`policy: ${text}`),
    );
    await page.addInitScript(NOTE_VIOLATIONS);
    page.on('pageerror', (error) => tab.problems.push(`thrown: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      // What the service refuses is in the log of a browser, too; tests say themselves what they expect of it.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        tab.problems.push(`console: ${message.text()}`);
      }
    });
    return tab;
  }

  /** Goes to a place of the console, within the page where one is shown: a reload would end the session. */
  async open(path: string): Promise<void> {
    if (this.page.url().startsWith(`${this.url}/console`)) {
      const place = JSON.stringify(`/console${path}`);
      await this.page.evaluate(
        `history.pushState(null, '', ${place}); dispatchEvent(new PopStateEvent('popstate'));`,
      );
    } else {
      await this.page.goto(`${this.url}/console${path}`);
    }
    await this.settled();
  }

  /** Waits until nothing says any more that it is on its way. */
  async settled(): Promise<void> {
    await this.page.locator('.waiting').first().waitFor({ state: 'detached' });
  }

  /**
   * Checks the page as it is now, in all sizes and both colour schemes: nothing overflows it sideways, and axe finds nothing.
   * Problems are noted. Outside CI it also takes a picture of each.
   */
  async check(name: string, { widths = WIDTHS, schemes = SCHEMES }: CheckOptions = {}): Promise<void> {
    if (TAKES_PICTURES) {
      mkdirSync(SCREENSHOTS, { recursive: true });
    }
    for (const colorScheme of schemes) {
      await this.page.emulateMedia({ colorScheme });
      for (const width of widths) {
        await this.page.setViewportSize({ width, height: HEIGHT });
        await this.checkWidth(`${name} at ${width}`, width);
        if (TAKES_PICTURES) {
          await this.page.screenshot({
            path: join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`),
            fullPage: true,
          });
        }
      }
      await this.checkAxe(`${name}, ${colorScheme}`);
    }
    await this.page.emulateMedia({ colorScheme: 'light' });
  }

  close(): Promise<void> {
    return this.context.close();
  }

  private async checkWidth(what: string, width: number): Promise<void> {
    const needed = await this.page.evaluate<number>('document.documentElement.scrollWidth');
    if (needed > width) {
      this.problems.push(`${what}: needs a width of ${needed}`);
    }
  }

  private async checkAxe(what: string): Promise<void> {
    if (!(await this.page.evaluate<boolean>("'axe' in globalThis"))) {
      // Evaluated from outside the page, so its policy does not stand in the way.
      await this.page.evaluate(AXE);
    }
    const options = { runOnly: { type: 'tag', values: RULES }, resultTypes: ['violations'] };
    const { violations } = await this.page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
    for (const { id, help, nodes } of violations) {
      this.problems.push(
        `${what}: ${id}, ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
      );
    }
  }
}
