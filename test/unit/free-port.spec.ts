import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { freePort } from '../support/databases/process-resources.js';

const run = promisify(execFile);
const MODULE = new URL('../support/databases/process-resources.ts', import.meta.url).href;
const TWENTY_PORTS = `
  import { freePort } from '${MODULE}';
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  console.log(JSON.stringify(ports));
`;

describe('freePort', () => {
  it('never returns the same port twice, even across processes', async () => {
    const own = await Promise.all(Array.from({ length: 20 }, freePort));
    // Force every call to start its search at the same port, which may happen by chance.
    const fixed = `Math.random = () => ${(own[0]! - 10_000 + 0.5) / 10_000};`;
    const child = run(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      fixed + TWENTY_PORTS,
    ]);
    const others = JSON.parse((await child).stdout) as number[];
    expect(new Set([...own, ...others]).size).toBe(40);
  });

  it('returns ports that nothing listens on', async () => {
    const port = await freePort();
    const refused = await new Promise((resolve) => {
      connect(port, '127.0.0.1')
        .once('error', (error) => resolve((error as NodeJS.ErrnoException).code))
        .once('connect', () => resolve('connected'));
    });
    expect(refused).toBe('ECONNREFUSED');
  });
});
