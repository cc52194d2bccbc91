// @ts-check
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles the programs and worker threads in a folder of compiled files with the packages they use, because loading a few
 * large files takes a fraction of the time of loading 4,000 modules. Each program becomes a file that imports its bundle. The
 * other modules remain, for tests, which import them one by one.
 *
 *     node tools/scripts/bundle.mjs dist
 */
const compiled = join(process.argv[2] ?? '', 'src');
/** The bundles, two folders below the compiled files, like every file that refers to other folders by relative paths. */
const BUNDLES = 'bundle';
const { imports, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Paths without extension, relative to `src`. */
const ENTRIES = [
  'main',
  'migration.cli',
  'rotate-secrets.cli',
  'evaluation/main',
  'evaluation/dev-token.cli',
  'evaluation/svc.cli',
  ...Object.values(imports)
    .filter((path) => path.endsWith('.worker.js'))
    .map((path) => relative('dist/src', path).slice(0, -'.js'.length)),
];
/**
 * Packages loaded from `node_modules`: native code, drivers, and what NestJS loads by `createRequire`, which must not be there twice.
 */
const EXTERNAL = [
  'libsql',
  'mysql2',
  'class-transformer',
  'class-validator',
  ...Object.keys(optionalDependencies),
];
/** Optional packages of NestJS that are not installed. */
const NOT_INSTALLED = /^@(nestjs\/(microservices|websockets)|fastify\/static)\b/;
/** What packages in CommonJS expect. */
const COMMONJS = `
import { createRequire as bundle$require } from 'node:module';
import { dirname as bundle$dirname } from 'node:path';
import { fileURLToPath as bundle$path } from 'node:url';
const require = bundle$require(import.meta.url), __filename = bundle$path(import.meta.url), __dirname = bundle$dirname(__filename);`;
/** Keeps packages out of the source maps, which would be ten times as large. */
const EMPTY_MAP = `\n//# sourceMappingURL=data:application/json;base64,${btoa('{"version":3,"sources":[""],"mappings":"A"}')}`;

await build({
  entryPoints: Object.fromEntries(ENTRIES.map((entry) => [bundleOf(entry), join(compiled, `${entry}.js`)])),
  outdir: join(compiled, BUNDLES),
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  keepNames: true,
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  external: EXTERNAL,
  banner: { js: COMMONJS.replaceAll('\n', ' ').trim() },
  plugins: [
    {
      name: 'modules of the service',
      setup(bundler) {
        bundler.onResolve({ filter: /^#engine\// }, ({ path }) => ({
          path: resolve(compiled, '../packages/engine/src', path.slice('#engine/'.length), 'index.js'),
        }));
        // Not bundled, so that tests can change the limits of a process.
        bundler.onResolve({ filter: /^\..*\.limits\.js$/ }, ({ path, resolveDir }) => {
          const file = relative(resolve(compiled), resolve(resolveDir, path));
          return file.startsWith('..')
            ? undefined
            : { path: `#limits/${file.slice(0, -'.limits.js'.length)}`, external: true };
        });
        bundler.onResolve({ filter: NOT_INSTALLED }, ({ path }) => ({ path, external: true }));
        bundler.onLoad({ filter: /node_modules.*\.[cm]?js$/ }, ({ path }) => ({
          contents: readFileSync(path, 'utf8') + EMPTY_MAP,
          loader: 'js',
        }));
      },
    },
  ],
});
for (const entry of ENTRIES) {
  const file = join(compiled, `${entry}.js`);
  const bundle = relative(dirname(file), join(compiled, BUNDLES, `${bundleOf(entry)}.js`));
  writeFileSync(file, `import '${bundle.startsWith('.') ? bundle : `./${bundle}`}';\n`);
}

/** @param {string} entry */
function bundleOf(entry) {
  return entry.replaceAll('/', '.');
}
