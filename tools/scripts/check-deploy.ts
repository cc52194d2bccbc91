import { Ajv } from 'ajv';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { tallyLine, type Tally } from './tally.js';
import {
  CHART,
  FULL_VALUES,
  KUBERNETES,
  MINIMAL_VALUES,
  renderChart,
  type Container,
  type Manifest,
} from './deploy/chart.js';
import { COMPOSE_FILE } from './deploy/compose.js';
import { composeSchema, haproxy, helm, kubernetesValidator, promtool, type Command } from './deploy/tools.js';

/**
 * Checks the files in `deploy` with the programs that read them, or against their schemas.
 *
 *     tsx tools/scripts/check-deploy.ts
 *
 * Ends with `N passed, N failed`. A check whose program is not available is skipped, or fails if CI is set.
 */
/** Returns the value of an instruction in the last stage of the Dockerfile. */
function dockerfileValue(instruction: string): string {
  const lines = readFileSync('deploy/Dockerfile', 'utf8').split('\n');
  return lines.findLast((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1) ?? '';
}

/** A program required by a check is not available. */
class MissingToolError extends Error {}

const PROXY = 'deploy/haproxy';
/** Path of the program that primary-check@.service starts. */
const INSTALLED_CHECK = '/usr/local/lib/svc-platform/primary-check';
const UNIT = 'deploy/systemd/svc-platform.service';
const folder = mkdtempSync(join(tmpdir(), 'svc-deploy-'));
const total: Tally = { passed: 0, failed: 0, skipped: 0 };

await check('compose file against the schema of Compose', async () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const isValid = ajv.compile(await requireTool(composeSchema()));
  expect(isValid(parse(readFileSync(COMPOSE_FILE, 'utf8'))), ajv.errorsText(isValid.errors));
});
await check('chart against helm lint', async () => {
  expectSuccess(await requireTool(helm()), [
    'lint',
    '--strict',
    '--quiet',
    CHART,
    '--kube-version',
    KUBERNETES[0],
    ...FULL_VALUES,
  ]);
});
const { networkPolicy } = parse(readFileSync(`${CHART}/ci/values.yaml`, 'utf8')) as {
  networkPolicy: { from: object[]; egress: object[] };
};
const rendered = [
  { name: 'full', values: FULL_VALUES, peers: networkPolicy },
  { name: 'minimal', values: MINIMAL_VALUES, peers: { from: [], egress: [] } },
];
for (const { name, values, peers } of rendered) {
  await check(`chart with the ${name} values against Kubernetes ${KUBERNETES.join(' and ')}`, async () => {
    await requireTool(helm());
    const manifests = await renderChart(values);
    await checkSchemas(name, manifests);
    checkManifests(manifests);
    checkRules(manifests, peers);
  });
}
const INVALID_VALUES = [
  'extraVolumes[0].name=x',
  'extraVolumeMounts[0].name=x',
  'image.tga=x',
  'settings.SECRETS_KEYS=x',
  'settings.PORT=80',
  'settings.OUTBOUND_PROXY=http://user:password@proxy:3128',
  'secret.existing=',
  'replicas=0',
  'networkPolicy.egress[0].ports[0].port=443',
];
await check(`chart rejects ${INVALID_VALUES.join(', ')}`, async () => {
  await requireTool(helm());
  for (const value of INVALID_VALUES) {
    const refusal = await renderChart([...MINIMAL_VALUES, '--set', value]).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refusal.includes("don't meet the specifications"), `${value} was not rejected: ${refusal}`);
  }
});
await check('alert rules against promtool', async () => {
  const tool = await requireTool(promtool());
  expectSuccess(tool, ['check', 'rules', '--lint=all', '--lint-fatal', 'deploy/monitoring/alerts.yaml']);
  expectSuccess(tool, ['test', 'rules', 'deploy/monitoring/alerts.test.yaml']);
});
await check('unit against systemd-analyze', async () => {
  await requireTool(
    spawnSync('systemd-analyze', ['--version']).status === 0
      ? undefined
      : Promise.reject(new Error('no systemd')),
  );
  const unit = readFileSync(UNIT, 'utf8');
  // The test machine may have Node elsewhere than the path in the unit.
  writeFileSync(join(folder, 'trial.service'), unit.replace('/usr/bin/node', process.execPath));
  expectSuccess(['systemd-analyze'], ['verify', '--man=no', join(folder, 'trial.service')]);
  const list = (name: string): string[] => JSON.parse(dockerfileValue(name)) as string[];
  const command = [...list('ENTRYPOINT').slice(1), ...list('CMD')].join(' ');
  expect(
    unit.includes(`ExecStart=/usr/bin/node ${command}\n`),
    'the unit and the image start different commands',
  );
});

await check('haproxy.cfg against HAProxy, its check against the shell and systemd-analyze', async () => {
  const command = await requireTool(haproxy());
  expectSuccess(['sh'], ['-n', `${PROXY}/primary-check`]);
  // The test machine may lack these hosts, the account and its folder.
  const text = readFileSync(`${PROXY}/haproxy.cfg`, 'utf8')
    .replaceAll(/db-\d:3306/g, '127.0.0.1:3306')
    .replaceAll(/^ *(user|group|chroot) .*\n/gm, '');
  writeFileSync(join(folder, 'haproxy.cfg'), text);
  expectSuccess(command, ['-c', '-f', join(folder, 'haproxy.cfg')]);
  if (spawnSync('systemd-analyze', ['--version']).status === 0) {
    const unit = readFileSync(`${PROXY}/primary-check@.service`, 'utf8');
    const script = resolve(PROXY, 'primary-check');
    writeFileSync(join(folder, 'primary-check@.service'), unit.replace(INSTALLED_CHECK, script));
    cpSync(`${PROXY}/primary-check.socket`, join(folder, 'primary-check.socket'));
    expectSuccess(['systemd-analyze'], ['verify', '--man=no', join(folder, 'primary-check.socket')]);
  }
});

rmSync(folder, { recursive: true });
console.log(tallyLine(total));
process.exitCode = total.failed > 0 ? 1 : 0;

async function check(name: string, work: () => Promise<void>): Promise<void> {
  const error = await work().then(
    () => undefined,
    (failure: Error) => failure,
  );
  const mayBeAbsent = error instanceof MissingToolError && !process.env['CI'];
  const outcome = error === undefined ? 'passed' : mayBeAbsent ? 'skipped' : 'failed';
  total[outcome] += 1;
  console.log(`${outcome.padEnd(8)} ${name}${error === undefined ? '' : `: ${error.message}`}`);
}

async function requireTool<Value>(value: Promise<Value> | Value): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    throw new MissingToolError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function expect(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new Error(message);
  }
}

function expectSuccess([file, ...first]: Command, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(file, [...first, ...args], { encoding: 'utf8' });
  expect(status === 0 && !/warning/i.test(stderr), `${stdout}${stderr}`);
}

/**
 * Validates manifests against the Kubernetes schemas, except the ServiceMonitor, which belongs to the Prometheus operator.
 */
async function checkSchemas(name: string, manifests: readonly Manifest[]): Promise<void> {
  const validator = await requireTool(kubernetesValidator());
  const file = join(folder, `${name}.json`);
  const items = manifests.filter(({ kind }) => kind !== 'ServiceMonitor');
  writeFileSync(file, items.map((item) => JSON.stringify(item)).join('\n---\n'));
  for (const version of KUBERNETES) {
    expectSuccess(validator, ['--kubernetes-version', version, '--strict', file]);
  }
}

/** Checks what no schema covers: pods are unprivileged, run the image as intended, and are matched by their selectors. */
function checkManifests(manifests: readonly Manifest[]): void {
  const pods = manifests.filter(({ spec }) => spec.template !== undefined);
  expect(
    pods
      .map(({ kind }) => kind)
      .toSorted()
      .join() === 'Deployment,Job',
    'the chart must contain a deployment and a migration job',
  );
  for (const { kind, spec } of pods) {
    const [container] = spec.template?.spec.containers ?? [];
    const security = { ...spec.template?.spec.securityContext, ...container?.securityContext };
    const [user, group] = dockerfileValue('USER').split(':').map(Number);
    const wanted = {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: group,
      seccompProfile: { type: 'RuntimeDefault' },
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    };
    expect(isDeepStrictEqual(security, wanted), `${kind}: ${JSON.stringify(security)}`);
    checkFiles(kind, spec.template?.spec.volumes ?? [], container);
  }
  checkPolicies(
    manifests,
    pods.map(({ spec }) => spec.template?.metadata.labels ?? {}),
  );
  const monitor = manifests.find(({ kind }) => kind === 'ServiceMonitor');
  const selected =
    (monitor?.spec['selector'] as { matchLabels: Record<string, string> } | undefined)?.matchLabels ?? {};
  const services = manifests.filter(
    ({ kind, metadata }) =>
      kind === 'Service' &&
      Object.entries(selected).every(([label, value]) => metadata.labels[label] === value),
  );
  expect(monitor === undefined || services.length === 1, `the monitor selects ${services.length} services`);
}

/** Checks that each file named by a setting is below a mounted volume of the pod. */
function checkFiles(kind: string, volumes: readonly { name: string }[], container?: Container): void {
  const mounts = (container?.volumeMounts ?? []).filter(({ name }) =>
    volumes.some((volume) => volume.name === name),
  );
  const files = (container?.env ?? []).filter(({ name }) => /_(FILE|CERTIFICATE)$/.test(name));
  for (const { name, value } of files) {
    const isThere = mounts.some(({ mountPath }) => value.startsWith(`${mountPath}/`));
    expect(isThere, `${kind}: no volume contains the file of ${name}`);
  }
}

/** Checks that exactly one policy selects each kind of pod. */
function checkPolicies(manifests: readonly Manifest[], pods: readonly Record<string, string>[]): void {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
  const selectors = policies.map(
    (spec) => (spec['podSelector'] as { matchLabels: Record<string, string> }).matchLabels,
  );
  for (const labels of pods) {
    const found = selectors.filter((selector) =>
      Object.entries(selector).every(([label, value]) => labels[label] === value),
    );
    expect(found.length === 1, `${found.length} policies select ${JSON.stringify(labels)}`);
  }
}

/** Checks that the policies admit only the named peers and scrapers, and let pods call only DNS and the named peers. */
function checkRules(manifests: readonly Manifest[], named: { from: object[]; egress: object[] }): void {
  const [service, migration] = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const egress = [{ ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })) }, ...named.egress];
  const ingress = [
    ...(named.from.length > 0 ? [{ ports: [{ port: 'http' }], from: named.from }] : []),
    { ports: [{ port: 'metrics' }], from: [{ namespaceSelector: {} }] },
  ];
  const found = [service?.spec, migration?.spec].map((spec) => [spec?.['ingress'], spec?.['egress']]);
  const wanted = [
    [ingress, egress],
    [[], egress],
  ];
  expect(isDeepStrictEqual(found, wanted), `the policies have unexpected rules: ${JSON.stringify(found)}`);
}
