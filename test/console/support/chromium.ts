import { existsSync } from 'node:fs';

/** Usual paths of the browser. `CHROMIUM` overrides them. */
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Finds the browser of this machine, or returns undefined. */
export function chromiumPath(): string | undefined {
  return [process.env['CHROMIUM'] ?? '', ...PATHS].find((path) => path !== '' && existsSync(path));
}
