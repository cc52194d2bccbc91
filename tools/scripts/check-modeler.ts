import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { build } from 'esbuild';
import { tallyLine, type Tally } from './tally.js';
import { APPLIED, DRAWING, FILLED, WITH_LANE, WORKFLOW } from './modeler/try-out.js';

/**
 * Tests the modeler kit in `packages/modeler/` with the real libraries: the element templates are valid, and the diagrams that bpmn-js
 * writes with each template and the Camunda Modeler plugin form a package that the service accepts. Installs the libraries if necessary.
 *
 *     tsx tools/scripts/check-modeler.ts
 */
const TOOLS = 'tools/scripts/modeler';
const SVC = 'dist/packages/client/src/command-line/svc.cli.js';
const TEMPLATES = JSON.parse(readFileSync('packages/modeler/element-templates.json', 'utf8')) as {
  id: string;
}[];

interface Plugin {
  type: string;
  plugin: object;
}

interface Applied {
  xml: string;
  warnings: string[];
}

interface Driver {
  validateAll(templates: object[]): { valid: boolean; results: { errors?: { message: string }[] }[] };
  apply(plugins: Plugin[], xml: string, templates: object[], work: object): Promise<Applied>;
}

const total: Tally = { passed: 0, failed: 0, skipped: 0 };
const folder = mkdtempSync(join(tmpdir(), 'svc-modeler-'));
try {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  install();
  const driver = await driverIn(folder);
  const { valid, results } = driver.validateAll(TEMPLATES);
  check('the element templates are valid', valid ? [] : results.flatMap(({ errors = [] }) => errors));
  const plugins = pluginsOf(readFileSync('packages/modeler/camunda-modeler-plugin/client.js', 'utf8'));
  const whole = await driver.apply(plugins, DRAWING, TEMPLATES, { applied: APPLIED, filled: FILLED });
  const lane = await driver.apply(plugins, WITH_LANE, TEMPLATES, {
    applied: { clerks: 'svc.lane' },
    filled: { clerks: { 'svc:execute': 'workflow-test' } },
  });
  check('bpmn-js applies the templates without warnings', [...whole.warnings, ...lane.warnings]);
  const left = TEMPLATES.filter(({ id }) => ![...Object.values(APPLIED), 'svc.lane'].includes(id));
  check('each template is applied', left);
  check('the service accepts the resulting processes', problemsOf(whole.xml, lane.xml));
  const without = await driver.apply([plugins[0] as Plugin], DRAWING, TEMPLATES, {
    applied: APPLIED,
    filled: FILLED,
  });
  check('only the plugin adds its elements', without.xml.includes('svc:uiAction') ? [without.xml] : []);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(tallyLine(total));
process.exit(total.failed === 0 ? 0 : 1);

function check(what: string, wrong: readonly unknown[]): void {
  total[wrong.length === 0 ? 'passed' : 'failed'] += 1;
  console.log(`${wrong.length === 0 ? 'ok   ' : 'FAIL '} ${what}`);
  wrong.forEach((one) => console.log(one));
}

function install(): void {
  const lock = readFileSync(join(TOOLS, 'package-lock.json'), 'utf8');
  const copy = join(TOOLS, 'node_modules/.installed-lock.json');
  if (!existsSync(copy) || readFileSync(copy, 'utf8') !== lock) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], { cwd: TOOLS, stdio: 'inherit' });
    writeFileSync(copy, lock);
  }
}

/** Bundles and loads the driver, since the libraries require a bundler and a browser. */
async function driverIn(folder: string): Promise<Driver> {
  const outfile = join(folder, 'driver.mjs');
  await build({
    entryPoints: [join(TOOLS, 'drive.js')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    external: ['jsdom'],
    logLevel: 'error',
  });
  // jsdom reads its own files from node_modules next to the bundle.
  execFileSync('ln', ['-s', join(process.cwd(), TOOLS, 'node_modules'), join(folder, 'node_modules')]);
  return (await import(pathToFileURL(outfile).href)) as Driver;
}

/** Returns what the plugin registers with Camunda Modeler. */
function pluginsOf(script: string): Plugin[] {
  const window: { plugins?: Plugin[] } = {};
  runInNewContext(script, { window });
  return window.plugins ?? [];
}

/** Returns the problems that the service reports for a package with these processes, without the expected warnings. */
function problemsOf(...processes: string[]): unknown[] {
  const root = join(folder, 'application');
  for (const part of ['processes', 'workflows']) {
    mkdirSync(join(root, part), { recursive: true });
  }
  writeFileSync(join(root, 'application.json'), '{ "formatVersion": 1, "appId": "drawn", "name": "Drawn" }');
  writeFileSync(join(root, 'workflows/WORKFLOW.json'), JSON.stringify(WORKFLOW));
  processes.forEach((xml, index) => writeFileSync(join(root, `processes/${index}.bpmn`), xml));
  const { stdout } = spawnSync(process.execPath, [SVC, '--json', 'validate', root], { encoding: 'utf8' });
  const { valid, problems } = JSON.parse(stdout) as {
    valid: boolean;
    problems: { severity: string; code: string }[];
  };
  // Elements keep the id of their template, which the service ignores.
  const known = ['FOREIGN_EXTENSION'];
  return valid ? problems.filter(({ code }) => !known.includes(code)) : [...problems, ...processes];
}
