import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CachedFile } from '../platform/http/cached-file.js';

/** Output folders of the console build, relative to the built service and to its sources. */
const FOLDERS = ['../../console', '../../dist/console'];
const PAGE = 'index.html';
/** Folder of files whose names contain a hash of their content. */
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

/** Files of the built console, by path below `/console/`. No other file is served. */
export class ConsoleFiles {
  private constructor(private readonly files: ReadonlyMap<string, CachedFile>) {}

  /** Reads the built console into memory, so that requests do not wait for the disk. Logs a warning when there is none. */
  static load(): ConsoleFiles {
    const folder = FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) =>
      existsSync(join(path, '.vite')),
    );
    const names = folder === undefined ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = names.flatMap((name): [string, CachedFile][] => {
      const type = TYPES[extname(name)];
      const caching = name.startsWith(ASSETS) ? FOR_EVER : 'no-cache';
      if (type === undefined) {
        return [];
      }
      const content = readFileSync(join(folder ?? '', name));
      return [[name, new CachedFile(type, () => content, caching)]];
    });
    if (!files.some(([name]) => name === PAGE)) {
      new Logger(ConsoleFiles.name).warn(
        'The console is not built, so /console returns 404. Run "npm run build", or set CONSOLE=false',
      );
    }
    return new ConsoleFiles(new Map(files));
  }

  /** Returns the file at a path, the page for any other path, or undefined for a missing asset. */
  find(path: string): CachedFile | undefined {
    return this.files.get(path) ?? (path.startsWith(ASSETS) ? undefined : this.files.get(PAGE));
  }
}
