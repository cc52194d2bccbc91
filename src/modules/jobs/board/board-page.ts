import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

/** What a page is filled with, by the names that its template has for it. */
type PageValues = Readonly<Record<string, string>>;

/** A value of the template; with `-` it is put in as it is. */
const VALUE = /<%([=-])\s*(\w+)\s*%>/g;
/** Fonts of another site, and styles that a strict policy forbids: those of the mark that turns while the page is loaded. */
const NOT_KEPT = /<link href="https?:[^>]*>|<style>.*?<\/style>| style="[^"]*"/gs;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** The page of the board and its scripts, styles and images, as the package `@bull-board/ui` delivers them. */
export class BoardPage {
  private readonly files: ReadonlyMap<string, string>;
  private readonly template: string;

  /** @throws Error when the package is not installed */
  constructor() {
    const folder = join(
      dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')),
      'dist',
    );
    this.template = readFileSync(join(folder, 'index.ejs'), 'utf8').replace(NOT_KEPT, '');
    const names = readdirSync(join(folder, 'static'), { recursive: true, withFileTypes: true });
    this.files = new Map(
      names
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .map((path) => [path.slice(folder.length + 1).replaceAll(sep, '/'), path]),
    );
  }

  /**
   * Where a file of the page is.
   * @param path `static/…`
   * @returns undefined where there is no such file
   */
  fileOf(path: string): string | undefined {
    return this.files.get(path);
  }

  /** The page as HTML, without scripts or styles in it. */
  htmlWith(values: PageValues): string {
    return this.template.replace(VALUE, (_all, kind: string, name: string) => {
      const text = values[name] ?? '';
      return kind === '-' ? text : text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
    });
  }
}
