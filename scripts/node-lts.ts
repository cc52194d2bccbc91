import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { nodeProgram, PINS, type Pins } from './image/base.js';

/**
 * Runs a command on the newest LTS release of Node: the one of the image, or on other platforms the newest of the same major release
 * that npm has for them. It is kept in the user's cache folder.
 *
 *     npx tsx scripts/node-lts.ts npm test -- --db embedded
 */
const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('Usage: npx tsx scripts/node-lts.ts COMMAND [ARGUMENT...]');
  process.exit(2);
}
const { node } = JSON.parse(await readFile(PINS, 'utf8')) as Pins;
const name = `node-${process.platform}-${process.arch}`;
const program = await nodeProgram(
  name === node.package ? node : { package: name, version: node.version.split('.')[0] ?? '' },
);
const PATH = [dirname(program), process.env['PATH']].join(delimiter);
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, PATH } });
child.once('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
child.once('close', (status, signal) => process.exit(status ?? 128 + constants.signals[signal ?? 'SIGTERM']));
