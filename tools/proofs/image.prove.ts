import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/databases/process-resources.js';
import { ApiClient } from './support/api-client.js';
import { deployments, type Deployment, ImageRoot } from './support/image-root.js';
import { ProcessClient } from './support/process-client.js';
import { CHECK, ORDER } from './support/process-models.js';
import type { ProofEnvironment } from './support/proof-environment.js';
import { prove, type Proof } from './support/proof.js';
import { ServiceProcess } from './support/service-process.js';

const run = promisify(execFile);
const MB = 1_000_000;
const MAX_MODULES_BYTES = 170 * MB;
const PROBE_TIMEOUT_MS = 30_000;
const MAX_IMAGE_BYTES = 360 * MB;

export const proof: Proof = {
  name: 'image',
  claim:
    'the last stage of the Dockerfile runs the service as started by the compose file and the chart, unprivileged and read-only',
  databases: ['mysql'],
  takesLong: true,
  async run(environment) {
    const root = await ImageRoot.build(join(environment.folder, 'image'));
    const sizes = await checkFiles(root);
    await checkDependencies(root);
    const allDeployments = await deployments();
    for (const deployment of allDeployments) {
      await checkSettings(root, deployment);
      await checkService(environment, root, deployment);
    }
    return (
      `node_modules ${toMb(sizes.modules)} MB, image ${toMb(sizes.all)} MB, last stage built by buildah; ran as ${root.config.User} ` +
      `on a read-only root, as started by ${allDeployments.map(({ name }) => name).join(' and ')}`
    );
  },
};

/** Checks the sizes on disk, and that only root can write to files and no file is setuid or setgid. */
async function checkFiles({ folder }: ImageRoot): Promise<{ modules: number; all: number }> {
  const [modules, all] = await Promise.all([sizeOf(join(folder, 'app/node_modules')), sizeOf(folder)]);
  prove(modules < MAX_MODULES_BYTES, `node_modules has ${toMb(modules)} MB`);
  prove(all < MAX_IMAGE_BYTES, `the image has ${toMb(all)} MB`);
  const { stdout } = await run('find', [folder, '!', '-type', 'l', '-perm', '/6022']);
  prove(stdout === '', `writable by users other than root, or setuid or setgid: ${stdout}`);
  prove(
    !existsSync(join(folder, 'bin/sh')) && !existsSync(join(folder, 'usr/bin/sh')),
    'the image contains a shell',
  );
  return { modules, all };
}

/** Entry points of packages that export only submodules. */
const ENTRY_POINTS: Record<string, string> = { '@noble/hashes': '@noble/hashes/sha2.js' };

/** Checks that each dependency can be loaded, including those that are loaded lazily. */
async function checkDependencies(root: ImageRoot): Promise<void> {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
    'dependencies' | 'optionalDependencies',
    Record<string, string>
  >;
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).map(
    (name) => ENTRY_POINTS[name] ?? name,
  );
  const missing = `
    const missing = [];
    for (const name of ${JSON.stringify(names)}) await import(name).catch((error) => missing.push(name + ': ' + error.message));
    await import('node:fs').then(({ writeFileSync }) => writeFileSync('/app/written', '')).catch((error) => missing.push(error.code));
    console.log(missing.join());`;
  const [file = '', ...args] = root.command(['--input-type=module', '--eval', missing]);
  const { stdout } = await run(file, args, { env: { ...process.env, ...root.environment } });
  prove(stdout.trim() === 'EROFS', `dependencies cannot be loaded, or the root is not read-only: ${stdout}`);
}

/** Checks that the service accepts a deployment's settings unchanged: it starts until it waits for the database. */
async function checkSettings(root: ImageRoot, { name, environment }: Deployment): Promise<void> {
  const service = await ServiceProcess.run(root.command(), { ...root.environment, ...environment });
  while (!service.hasEnded && !service.outputTail.includes('waiting for the database')) {
    await sleep(100);
  }
  prove(!service.hasEnded, `${name}: the start ended: ${service.outputTail}`);
  await service.kill('SIGKILL');
}

/** Starts the service as in a deployment, on a new database. */
async function checkService(
  environment: ProofEnvironment,
  root: ImageRoot,
  { name, environment: variables, migration }: Deployment,
): Promise<void> {
  const metricsPort = String(await freePort());
  const settings = {
    ...root.environment,
    ...Object.fromEntries(Object.entries(variables).filter(([variable]) => variable !== 'PORT')),
    ...environment.settings(await environment.emptyDatabase()),
    METRICS_PORT: metricsPort,
    EGRESS_ALLOW: '127.0.0.1',
  };
  for (const command of migration === undefined ? [] : [migration, [...migration.slice(0, -1), 'check']]) {
    const run = await ServiceProcess.run(root.command(command), settings);
    prove((await run.ended()) === 0, `${name}: ${command.join(' ')} failed: ${run.outputTail}`);
  }
  const service = await environment.adopt(await ServiceProcess.run(root.command(), settings));
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
  prove(
    process.getuid?.() !== 0 || /^Uid:\t65532\t65532\t/m.test(status),
    'the service does not run as user 65532',
  );
  for (const path of ['/livez', '/readyz', '/metrics']) {
    const answer = await pollUntilOk(`http://127.0.0.1:${metricsPort}${path}`);
    prove(answer.ok, `${name}: ${path} was answered ${answer.status}`);
  }
  prove((await exitOf(root.healthCommand, settings)) === 0, 'the health check fails for a running service');
  await useService(service.url, await environment.token({ typ: 'Bearer' }));
  prove((await service.kill('SIGTERM')) === 0, `the service did not stop cleanly: ${service.outputTail}`);
  prove(
    (await exitOf(root.healthCommand, settings)) === 1,
    'the health check succeeds for a stopped service',
  );
}

/**
 * Polls until a probe succeeds. While the main thread is busy the probe thread reports the last known state, which may be
 * not ready.
 */
async function pollUntilOk(url: string): Promise<Response> {
  const deadline = Date.now() + PROBE_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    if (answer.ok || Date.now() > deadline) {
      return answer;
    }
    await sleep(100);
  }
}

/** Uses a worker thread, package validation, expressions, drivers and static files. */
async function useService(url: string, token: string): Promise<void> {
  const api = new ApiClient(url, token);
  const tested = await api.testConnection('http://127.0.0.1:65534/mcp');
  prove(tested.status === 200, `a connection test was answered ${tested.status}`);
  prove(JSON.stringify(tested.body).includes('refused'), `the test returned ${JSON.stringify(tested.body)}`);
  const found = await api.send('GET', '/api/platform/discover');
  prove(found.status === 200, `discovery was answered ${found.status}`);
  await api.close();
  const processes = new ProcessClient(url, token);
  const build = await processes.publish({ order: ORDER, check: CHECK });
  const { status } = await processes.start(build, 'order', { order: 'image' });
  prove(status === 200, `a start was answered ${status}`);
  await processes.close();
  for (const path of ['/docs', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css']) {
    const page = await fetch(`${url}${path}`);
    prove(page.ok && (await page.text()).length > 1_000, `${path} was answered ${page.status}`);
  }
}

async function exitOf(command: string[], env: Record<string, string>): Promise<unknown> {
  const [file = '', ...args] = command;
  return run(file, args, { env: { ...process.env, ...env } }).then(
    () => 0,
    (error: { code?: unknown }) => error.code,
  );
}

async function sizeOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['--summarize', '--block-size=1', folder]);
  return Number(stdout.split('\t')[0]);
}

function toMb(bytes: number): string {
  return (bytes / MB).toFixed(0);
}
