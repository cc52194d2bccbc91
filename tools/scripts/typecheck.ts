import { spawnSync } from 'node:child_process';

/**
 * Checks the types of everything that runs on Node, then those of the console, which runs in browsers. What the compiler knows of the
 * last check is kept, so a second check takes a fraction of the time.
 */
const KEPT = 'node_modules/.cache/typecheck';
const options = process.argv.slice(2);
for (const project of ['.', 'packages/engine', 'packages/console']) {
  const kept = ['--incremental', '--tsBuildInfoFile', `${KEPT}/${project}.tsbuildinfo`];
  const { status } = spawnSync('tsc', ['--noEmit', ...kept, '--project', project, ...options], {
    stdio: 'inherit',
  });
  process.exitCode ||= status ?? 1;
}
