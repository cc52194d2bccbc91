import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, putInPlace, unpackedProgram } from '../../../test/support/databases/debian-package.js';
import { processFolder } from '../../../test/support/databases/process-resources.js';

const run = promisify(execFile);
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.18.6';
const COMPOSE = 'github.com/compose-spec/compose-go/v2@v2.6.0';
const VALIDATOR = 'kubernetes-validate==1.37.0';

/** A command that others' programs are started with. */
export type Command = readonly [string, ...string[]];

/**
 * Helm, built by Go of its sources once and kept in the user's cache folder.
 * @throws Error when there is no Go, or its proxy cannot be reached
 */
export async function helm(): Promise<Command> {
  const folder = await kept(HELM, (target) =>
    run('go', ['install', HELM], { env: { ...process.env, GOBIN: target, GOFLAGS: '' } }),
  );
  return [join(folder, 'helm')];
}

/**
 * `kubernetes-validate`, which brings the schemas of many releases of Kubernetes.
 * @throws Error when there is no Python with pip, or its index cannot be reached
 */
export async function kubernetesValidator(): Promise<Command> {
  const folder = await kept(VALIDATOR, (target) =>
    run('python3', ['-m', 'pip', 'install', '--quiet', '--no-compile', '--target', target, VALIDATOR]),
  );
  return ['env', `PYTHONPATH=${folder}`, 'python3', join(folder, 'bin/kubernetes-validate')];
}

/**
 * `promtool` of Debian's Prometheus.
 * @throws Error when its package cannot be had
 */
export async function promtool(): Promise<Command> {
  return (await unpackedProgram('bookworm', 'prometheus', '/usr/bin/promtool')).command;
}

/**
 * HAProxy of Debian.
 * @throws Error when its package cannot be had
 */
export async function haproxy(): Promise<Command> {
  return (await unpackedProgram('bookworm', 'haproxy', '/usr/sbin/haproxy')).command;
}

/**
 * The JSON Schema of compose files, as Docker Compose brings it.
 * @throws Error when there is no Go, or its proxy cannot be reached
 */
export async function composeSchema(): Promise<object> {
  const { stdout } = await run('go', ['mod', 'download', '-json', COMPOSE], { cwd: '/' });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  const schema = JSON.parse(await readFile(join(folder, 'schema/compose-spec.json'), 'utf8')) as object;
  // It names its dialect by an address that no validator knows.
  return { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
}

/** A folder of the cache, made once; concurrent callers are safe. */
async function kept(name: string, make: (target: string) => Promise<unknown>): Promise<string> {
  const parent = join(dirname(cacheFolder()), 'tools');
  const target = join(parent, name.replaceAll(/[^\w.-]+/g, '-'));
  if (!existsSync(target)) {
    await mkdir(parent, { recursive: true });
    const work = await processFolder(`${target}.building`);
    await make(work);
    await putInPlace(work, target);
  }
  return target;
}
