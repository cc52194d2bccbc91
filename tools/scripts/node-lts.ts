import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { nodeProgram } from './node-program.js';

/**
 * Runs a command on the release of Node that the image contains.
 *
 *     npx tsx tools/scripts/node-lts.ts npm test -- --db embedded
 */
const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('Usage: npx tsx tools/scripts/node-lts.ts COMMAND [ARGUMENT...]');
  process.exit(2);
}
const program = await nodeProgram();
const PATH = [dirname(program), process.env['PATH']].join(delimiter);
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, PATH } });
child.once('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
child.once('close', (status, signal) => process.exit(status ?? 128 + constants.signals[signal ?? 'SIGTERM']));
