import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { PATIENCE_MS } from '../../support/patience.js';

const SCREENSHOTS = '.cache/console-screenshots';
/** No screenshots in CI, which deletes its checkout. */
const TAKES_PICTURES = process.env['CI'] === undefined;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Script for the page. A string, because the tests compile without browser types. */
const NOTE_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  noteViolation(event.violatedDirective + ' ' + event.blockedURI + ' at ' + event.sourceFile + ':' + event.lineNumber))`;
const WIDTHS = [400, 900, 1600] as const;
const HEIGHT = 900;
const SCHEMES = ['light', 'dark'] as const;
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Options of {@link Tab.check}. */
export interface CheckOptions {
  widths?: readonly number[];
  schemes?: readonly ('light' | 'dark')[];
}

/** Browser tab with the console. Records policy violations and errors. */
export class Tab {
  /** Unexpected problems. */
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
      // The browser logs error responses, too, but tests check those themselves.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        tab.problems.push(`console: ${message.text()}`);
      }
    });
    return tab;
  }

  /** Opens a path of the console, without a reload if possible, because a reload would end the session. */
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

  /** Waits until no loading indicator is left. */
  async settled(): Promise<void> {
    await this.page.locator('.waiting').first().waitFor({ state: 'detached' });
  }

  /**
   * Checks the page for horizontal overflow and with axe, in all widths and both color schemes. Records problems. Outside CI it also
   * takes screenshots.
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
      // Evaluated from outside the page, where its Content-Security-Policy does not apply.
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
