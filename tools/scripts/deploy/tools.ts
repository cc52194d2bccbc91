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

/** A command that starts a third-party program. */
export type Command = readonly [string, ...string[]];

/**
 * Returns Helm, built once from source with Go and cached in the user's cache folder.
 * @throws Error when Go is missing, or its module proxy is unreachable
 */
export async function helm(): Promise<Command> {
  const folder = await cached(HELM, (target) =>
    run('go', ['install', HELM], { env: { ...process.env, GOBIN: target, GOFLAGS: '' } }),
  );
  return [join(folder, 'helm')];
}

/**
 * Returns `kubernetes-validate`, which includes the schemas of many Kubernetes releases.
 * @throws Error when Python with pip is missing, or the package index is unreachable
 */
export async function kubernetesValidator(): Promise<Command> {
  const folder = await cached(VALIDATOR, (target) =>
    run('python3', ['-m', 'pip', 'install', '--quiet', '--no-compile', '--target', target, VALIDATOR]),
  );
  return ['env', `PYTHONPATH=${folder}`, 'python3', join(folder, 'bin/kubernetes-validate')];
}

/**
 * Returns `promtool` from Debian's Prometheus package.
 * @throws Error when the package is not available
 */
export async function promtool(): Promise<Command> {
  return (await unpackedProgram('bookworm', 'prometheus', '/usr/bin/promtool')).command;
}

/**
 * Returns HAProxy from its Debian package.
 * @throws Error when the package is not available
 */
export async function haproxy(): Promise<Command> {
  return (await unpackedProgram('bookworm', 'haproxy', '/usr/sbin/haproxy')).command;
}

/**
 * Returns the JSON Schema of compose files that Docker Compose uses.
 * @throws Error when Go is missing, or its module proxy is unreachable
 */
export async function composeSchema(): Promise<object> {
  const { stdout } = await run('go', ['mod', 'download', '-json', COMPOSE], { cwd: '/' });
  const { Dir: folder } = JSON.parse(stdout) as { Dir: string };
  const schema = JSON.parse(await readFile(join(folder, 'schema/compose-spec.json'), 'utf8')) as object;
  // Its dialect URL is unknown to validators.
  return { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
}

/** Returns a folder in the cache, created on first use. Safe for concurrent callers. */
async function cached(name: string, make: (target: string) => Promise<unknown>): Promise<string> {
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
