import { spawnSync } from 'node:child_process';

/**
 * Checks the types of everything that runs on Node, then those of the console, which runs in browsers. Keeps incremental
 * build information, so a second check takes a fraction of the time.
 */
const CACHE = 'node_modules/.cache/typecheck';
const options = process.argv.slice(2);
for (const project of ['.', 'packages/engine', 'packages/console']) {
  const incremental = ['--incremental', '--tsBuildInfoFile', `${CACHE}/${project}.tsbuildinfo`];
  const { status } = spawnSync('tsc', ['--noEmit', ...incremental, '--project', project, ...options], {
    stdio: 'inherit',
  });
  process.exitCode ||= status ?? 1;
}
