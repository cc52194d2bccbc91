import { build } from 'esbuild';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What is reached by a computed path, which no reader of sources can follow. */
const COMPUTED: Record<string, string> = {
  [`@libsql/linux-${process.arch}-gnu`]: 'the native part of libsql, named after the machine',
  'swagger-ui-dist': 'the files of /docs, sent as they are',
};
/** In a folder that is kept as a whole: not needed to run, and not sent by /docs. */
const NOT_KEPT = /\.map$|\.md$|-es-bundle/;
/** Optional parts of packages which the service does not use, and does without. */
const ABSENT = [
  '@aws-sdk/credential-providers',
  '@fastify/static',
  '@mongodb-js/zstd',
  '@nestjs/microservices',
  '@nestjs/websockets',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'pg-native',
  'snappy',
  'socks',
  'supports-color',
];

/** A package of `node_modules` of which the service needs something. */
export interface ReachedPackage {
  /** Its folder, such as `node_modules/debug/node_modules/ms`. */
  folder: string;
  name: string;
  version: string;
  license: string;
  /** Hash of the package as the registry delivers it. */
  integrity: string;
}

/** What the built service loads from `node_modules`, as paths from the checkout. */
export interface ReachedModules {
  files: string[];
  packages: ReachedPackage[];
}

/**
 * Follows every import of the built service: static, lazy, `require` and JSON. Of `npm ci --omit=dev`, 244 MB, four fifths are
 * never loaded: the TypeScript compiler, type declarations, source maps, and further copies of packages for browsers and bundlers.
 * @throws Error when an import leads nowhere, or to a package that is installed for development only
 */
export async function reachedModules(): Promise<ReachedModules> {
  const traced = (await tracedFiles()).filter((path) => path.startsWith('node_modules/'));
  const folders = new Set([...traced.map(packageFolder), ...wholeFolders()]);
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const packages = [...folders].toSorted().map((folder) => describe(folder, lock));
  const files = new Set([...traced, ...wholeFolders().flatMap(filesOf), ...packages.flatMap(papersOf)]);
  return { files: [...files].toSorted(), packages };
}

/** Copies what {@link reachedModules} has found. */
export async function copyModules({ files }: ReachedModules, target: string): Promise<void> {
  const folders = new Set(files.map((file) => dirname(join(target, file))));
  await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  await Promise.all(files.map((file) => copyFile(file, join(target, file))));
}

interface LockFile {
  packages: Record<
    string,
    { version: string; integrity: string; license?: string; dev?: boolean } | undefined
  >;
}

async function tracedFiles(): Promise<string[]> {
  const built = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.js') && !name.startsWith('console/'),
  );
  const outdir = await mkdtemp(join(tmpdir(), 'svc-modules-'));
  try {
    const { metafile } = await build({
      stdin: { contents: built.map((name) => `import("./${name}")`).join(';'), resolveDir: 'dist' },
      bundle: true,
      outfile: join(outdir, 'all.js'),
      metafile: true,
      platform: 'node',
      format: 'esm',
      // Those of Node, besides `node`, `import` and `require`; without them esbuild would add `module`.
      conditions: ['module-sync', 'node-addons'],
      mainFields: ['main'],
      treeShaking: false,
      logLevel: 'silent',
      external: ABSENT,
      loader: { '.node': 'empty' },
    });
    return Object.keys(metafile.inputs);
  } finally {
    await rm(outdir, { recursive: true });
  }
}

function describe(folder: string, lock: LockFile): ReachedPackage {
  const locked = lock.packages[folder];
  if (locked === undefined || locked.dev === true) {
    throw new Error(`the service loads ${folder}, which is not installed in production`);
  }
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string };
  const { version, integrity, license = 'NOASSERTION' } = locked;
  return { folder, name, version, license, integrity };
}

function packageFolder(path: string): string {
  const found = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
  if (found === undefined) {
    throw new Error(`${path} is in no package`);
  }
  return found;
}

function wholeFolders(): string[] {
  return Object.keys(COMPUTED).map((name) => `node_modules/${name}`);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => !NOT_KEPT.test(path) && statSync(path).isFile());
}

/** Licences ask to stay with the code; a `package.json`, also of a folder within, says how Node reads it. */
function papersOf({ folder }: ReachedPackage): string[] {
  const manifests = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /(^|\/)package\.json$/.test(name) && !name.includes('node_modules/'),
  );
  const licences = readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
  return [...manifests, ...licences]
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
