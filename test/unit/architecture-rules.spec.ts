import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CONFIG = resolve('tools/arch/dependency-cruiser.cjs');
const rules = (createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string; comment: string }[] })
  .forbidden;

/** A file that breaks the rule, for each rule. */
const PLANTED: Record<string, [file: string, text: string]> = {
  'no-cycles': ['src/a/cycle-one.ts', "import './cycle-two.js';"],
  'no-folder-cycles': ['src/a/upper/up.ts', "import '../lower/down.js';"],
  'no-orphans': ['src/a/nobody-imports-me.ts', 'export const a = 1;'],
  'platform-stays-below-modules': ['src/platform/up.ts', "import '../b/b.service.js';"],
  'engine-stands-alone': ['packages/engine/src/up.ts', "import '../../../src/platform/target.js';"],
  'engine-needs-no-node': ['packages/engine/src/node.ts', "import 'node:net';"],
  'store-stays-below-modules': ['src/store/up.ts', "import '../b/b.service.js';"],
  'config-depends-on-nothing': ['src/platform/config/up.ts', "import '../target.js';"],
  'modules-meet-through-services': ['src/a/reach.ts', "import '../b/b.repository.js';"],
  'controllers-only-translate-http': ['src/b/b.controller.ts', "import './b.repository.js';"],
  'services-do-not-know-http': ['src/a/a.service.ts', "import '../b/b.controller.js';"],
  'entities-are-rows': ['src/b/b.entity.ts', "import './b.response.dto.js';"],
  'migrations-stand-alone': ['migrations/1-a.ts', "import '../src/platform/target.js';"],
  'evaluation-stays-outside': ['src/app.ts', "import './evaluation/target.js';"],
  'clients-stand-alone': ['packages/client/src/index.ts', "import '../../../src/platform/target.js';"],
  'only-commands-are-clients': ['src/platform/calls.ts', "import '../../packages/client/src/connect.js';"],
  'console-is-a-client': [
    'packages/console/src/parts/reach.ts',
    "import '../../../../src/platform/target.js';",
  ],
  'console-parts-stay-below-pages': [
    'packages/console/src/parts/up.ts',
    "import '../pages/home/home.page.js';",
  ],
  'console-areas-stand-alone': ['packages/console/src/pages/audit/over.ts', "import '../home/home.page.js';"],
  'service-does-not-know-the-console': [
    'src/platform/shows.ts',
    "import '../../packages/console/src/pages/home/home.page.js';",
  ],
  'no-tests-in-production': ['src/platform/tested.ts', "import '../../test/target.js';"],
  'no-development-packages-in-production': ['src/platform/dev.ts', "import 'dev-package';"],
  'packages-are-declared': ['src/platform/hidden.ts', "import 'hidden-package';"],
  'imports-resolve': ['src/platform/nowhere.ts', "import './nowhere-to-be-found.js';"],
};
const TARGETS: Record<string, string> = {
  'src/a/cycle-two.ts': "import './cycle-one.js';",
  'src/a/lower/down.ts': 'export const down = 1;',
  'src/a/lower/climbs.ts': "import '../upper/top.js';",
  'src/a/upper/top.ts': 'export const top = 1;',
  'src/platform/target.ts': '',
  'src/evaluation/target.ts': '',
  'packages/console/src/pages/home/home.page.ts': '',
  'test/target.ts': '',
  'packages/client/src/connect.ts': '',
  'src/b/b.repository.ts': '',
  'src/b/b.service.ts': '',
  'src/b/b.response.dto.ts': '',
  'src/a/allowed.ts': "import '../b/b.service.js';",
  'node_modules/dev-package/index.js': '',
  'node_modules/dev-package/package.json': '{ "name": "dev-package", "main": "index.js" }',
  'node_modules/hidden-package/index.js': '',
  'node_modules/hidden-package/package.json': '{ "name": "hidden-package", "main": "index.js" }',
  'package.json': '{ "type": "module", "devDependencies": { "dev-package": "1.0.0" } }',
  'tsconfig.json': '{ "compilerOptions": { "module": "nodenext", "moduleResolution": "nodenext" } }',
};

interface Report {
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

describe('dependency-cruiser.cjs', () => {
  let folder: string;
  let violations: Report['summary']['violations'];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-architecture-'));
    const files = { ...TARGETS, ...Object.fromEntries(Object.values(PLANTED)) };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), `${text}\n`);
    }
    await symlink(resolve('node_modules/typescript'), join(folder, 'node_modules/typescript'));
    violations = await cruise(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is tested with a violation of every rule', () => {
    expect(Object.keys(PLANTED).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
  });

  it.each(Object.entries(PLANTED))('reports a violation of %s', (name, [file]) => {
    expect(
      violations.filter(({ rule, from }) => rule.name === name && (from === file || from === dirname(file))),
    ).not.toEqual([]);
  });

  it('accepts a module that uses the service of another', () => {
    const allowed = violations.filter(
      ({ from, rule }) => from === 'src/a/allowed.ts' && rule.name !== 'no-orphans',
    );
    expect(allowed).toEqual([]);
  });

  it('explains every rule', () => {
    expect(rules.filter(({ comment }) => comment.length < 40)).toEqual([]);
  });
});

function cruise(cwd: string): Promise<Report['summary']['violations']> {
  const program = resolve('node_modules/.bin/depcruise');
  const args = ['--config', CONFIG, '--output-type', 'json', 'src', 'migrations', 'packages'];
  return new Promise((done, fail) => {
    execFile(program, args, { cwd, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      // The exit status is the number of violations, so only empty output means a failure.
      if (stdout === '') {
        fail(new Error(stderr, { cause: error }));
      } else {
        done((JSON.parse(stdout) as Report).summary.violations);
      }
    });
  });
}
