import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeptFile } from '../platform/http/kept-file.js';

/** Where the console is built to: seen from the built service, and from its sources. */
const FOLDERS = ['../../console', '../../dist/console'];
const PAGE = 'index.html';
/** Below it, names have a hash of what is in the file. */
const ASSETS = 'assets/';
const FOR_EVER = 'public, max-age=31536000, immutable';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

/** The files of the built console, by their paths below `/console/`. No other file can be asked for. */
export class ConsoleFiles {
  private constructor(private readonly files: ReadonlyMap<string, KeptFile>) {}

  /** Reads the built console, so that no request waits for a disk. Without one there are no files, and a warning says so. */
  static load(): ConsoleFiles {
    const folder = FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) =>
      existsSync(join(path, '.vite')),
    );
    const names = folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = names.flatMap((name): [string, KeptFile][] => {
      const type = TYPES[extname(name)];
      const caching = name.startsWith(ASSETS) ? FOR_EVER : 'no-cache';
      if (type === undefined) {
        return [];
      }
      const content = readFileSync(join(folder ?? '', name));
      return [[name, new KeptFile(type, () => content, caching)]];
    });
    if (!files.some(([name]) => name === PAGE)) {
      new Logger(ConsoleFiles.name).warn(
        'The console is not built, so /console is not there: run "npm run build", or set CONSOLE=false',
      );
    }
    return new ConsoleFiles(new Map(files));
  }

  /** What a path leads to: a file, or the page where it names none; nothing where it names a file that there is not. */
  find(path: string): KeptFile | undefined {
    return this.files.get(path) ?? (path.startsWith(ASSETS) ? undefined : this.files.get(PAGE));
  }
}
