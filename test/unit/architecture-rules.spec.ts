import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CONFIG = resolve('.dependency-cruiser.cjs');
const rules = (createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string; comment: string }[] })
  .forbidden;

/** For each rule a file that breaks it, and a neighbour that stays within it. */
const PLANTED: Record<string, [file: string, text: string]> = {
  'no-cycles': ['src/modules/a/cycle-one.ts', "import './cycle-two.js';"],
  'no-folder-cycles': ['src/modules/a/upper/up.ts', "import '../lower/down.js';"],
  'no-orphans': ['src/modules/a/nobody-imports-me.ts', 'export const a = 1;'],
  'common-stays-below-modules': ['src/common/up.ts', "import '../modules/b/b.service.js';"],
  'language-stays-below-modules': ['src/language/up.ts', "import '../modules/b/b.service.js';"],
  'database-stays-below-modules': ['src/database/up.ts', "import '../modules/b/b.service.js';"],
  'config-depends-on-nothing': ['src/config/up.ts', "import '../common/target.js';"],
  'modules-meet-through-services': ['src/modules/a/reach.ts', "import '../b/b.repository.js';"],
  'controllers-only-translate-http': ['src/modules/b/b.controller.ts', "import './b.repository.js';"],
  'services-do-not-know-http': ['src/modules/a/a.service.ts', "import '../b/b.controller.js';"],
  'entities-are-rows': ['src/modules/b/b.entity.ts', "import './b.response.dto.js';"],
  'migrations-stand-alone': ['migrations/1-a.ts', "import '../src/common/target.js';"],
  'evaluation-stays-outside': ['src/app.ts', "import './evaluation/target.js';"],
  'clients-stand-alone': ['clients/typescript/src/index.ts', "import '../../../src/common/target.js';"],
  'only-commands-are-clients': ['src/common/calls.ts', "import '../../clients/typescript/src/connect.js';"],
  'console-is-a-client': ['console/src/parts/reach.ts', "import '../../../src/common/target.js';"],
  'console-parts-stay-below-pages': ['console/src/parts/up.ts', "import '../pages/home/home.page.js';"],
  'console-areas-stand-alone': ['console/src/pages/audit/over.ts', "import '../home/home.page.js';"],
  'service-does-not-know-the-console': [
    'src/common/shows.ts',
    "import '../../console/src/pages/home/home.page.js';",
  ],
  'no-tests-in-production': ['src/common/tested.ts', "import '../../test/target.js';"],
  'no-development-packages-in-production': ['src/common/dev.ts', "import 'dev-package';"],
  'packages-are-declared': ['src/common/hidden.ts', "import 'hidden-package';"],
  'imports-resolve': ['src/common/nowhere.ts', "import './nowhere-to-be-found.js';"],
};
const TARGETS: Record<string, string> = {
  'src/modules/a/cycle-two.ts': "import './cycle-one.js';",
  'src/modules/a/lower/down.ts': 'export const down = 1;',
  'src/modules/a/lower/climbs.ts': "import '../upper/top.js';",
  'src/modules/a/upper/top.ts': 'export const top = 1;',
  'src/common/target.ts': '',
  'src/evaluation/target.ts': '',
  'console/src/pages/home/home.page.ts': '',
  'test/target.ts': '',
  'clients/typescript/src/connect.ts': '',
  'src/modules/b/b.repository.ts': '',
  'src/modules/b/b.service.ts': '',
  'src/modules/b/b.response.dto.ts': '',
  'src/modules/a/allowed.ts': "import '../b/b.service.js';",
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

describe('.dependency-cruiser.cjs', () => {
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

  it('has a planted violation for every rule', () => {
    expect(Object.keys(PLANTED).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
  });

  it.each(Object.entries(PLANTED))('fires %s', (name, [file]) => {
    expect(
      violations.filter(({ rule, from }) => rule.name === name && (from === file || from === dirname(file))),
    ).not.toEqual([]);
  });

  it('accepts a module that uses the service of another', () => {
    const allowed = violations.filter(
      ({ from, rule }) => from === 'src/modules/a/allowed.ts' && rule.name !== 'no-orphans',
    );
    expect(allowed).toEqual([]);
  });

  it('says why for every rule', () => {
    expect(rules.filter(({ comment }) => comment.length < 40)).toEqual([]);
  });
});

function cruise(cwd: string): Promise<Report['summary']['violations']> {
  const program = resolve('node_modules/.bin/depcruise');
  const args = ['--config', CONFIG, '--output-type', 'json', 'src', 'migrations', 'clients', 'console'];
  return new Promise((done, fail) => {
    execFile(program, args, { cwd, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      // The exit status is the number of violations, so only an empty answer is a failure.
      if (stdout === '') {
        fail(new Error(stderr, { cause: error }));
      } else {
        done((JSON.parse(stdout) as Report).summary.violations);
      }
    });
  });
}
