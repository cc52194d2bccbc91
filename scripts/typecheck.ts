import { spawnSync } from 'node:child_process';

/** Checks the types of the service with all that is for Node, then those of the console, which is for browsers. */
const options = process.argv.slice(2);
for (const project of ['.', 'console']) {
  const { status } = spawnSync('tsc', ['--noEmit', '--project', project, ...options], { stdio: 'inherit' });
  process.exitCode ||= status ?? 1;
}
