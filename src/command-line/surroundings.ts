import { text } from 'node:stream/consumers';
import { pathAsTyped } from '../config/cli.js';
import { Env } from '../config/env.js';
import type { SvcSurroundings } from './session.js';

/** Those of this process. */
export function surroundingsOf(print: (line: string) => void): SvcSurroundings {
  return {
    env: Env.fromProcess('maintenance'),
    print,
    printError: (line) => process.stderr.write(`${line}\n`),
    pathOf: (path) => pathAsTyped(path, 'svc'),
    readInput: () => text(process.stdin),
    untilStopped: () => {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      process.once('SIGTERM', () => stop.abort());
      return stop.signal;
    },
  };
}
