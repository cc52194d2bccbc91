import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile, lstat, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processFolder } from './process-resources.js';

const run = promisify(execFile);
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const APT_TIMEOUT_MS = 10 * 60_000;
/** Parts of the packages that no program reads at run time. */
const NOT_NEEDED = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info'];

/** A program that was unpacked from Debian packages into a folder of its own. */
export interface UnpackedProgram {
  /** Folder that stands for `/` in the packages. */
  root: string;
  /** Command and leading arguments that start the program with the libraries of its own suite. */
  command: [string, ...string[]];
}

/**
 * A program of a Debian suite, unpacked with all its libraries into the user's cache folder. Nothing is installed:
 * no root right is needed, no maintainer script runs, no daemon starts and the host's own packages stay as they are.
 * The packages come from the mirror of the host's apt sources and are verified by apt's signatures.
 *
 * Concurrent callers are safe: each one builds in a folder of its own, and a rename makes it visible complete or not
 * at all.
 * @param suite Debian suite, such as `bookworm`
 * @param packageName binary package that holds the program
 * @param program absolute path of the program in the package
 * @throws Error when the host has no apt, no Debian mirror or no network
 */
export async function unpackedProgram(
  suite: string,
  packageName: string,
  program: string,
): Promise<UnpackedProgram> {
  const target = await unpacked({ suite, packageNames: [packageName], program });
  const [loader, ...libraries] = await loaderAndLibraries(target);
  return {
    root: target,
    command: [loader, '--library-path', libraries.join(':'), join(target, program)],
  };
}

/** Packages to unpack into one folder. */
export interface UnpackPlan {
  suite: string;
  /** The first one names the folder. */
  packageNames: readonly [string, ...string[]];
  /** A file that is there when all is. */
  program: string;
  /** Whether others than root run its programs, who may not look into the home of root. */
  isForOthers?: boolean;
  /** Changes what was unpacked before anybody sees it. */
  finish?: (root: string) => Promise<void>;
}

/**
 * The folder that stands for `/` in packages of a Debian suite and in all that they depend on, see {@link unpackedProgram}.
 * @throws Error when the host has no apt, no Debian mirror or no network
 */
export async function unpacked(plan: UnpackPlan): Promise<string> {
  const isForOthers = plan.isForOthers === true && process.getuid?.() === 0;
  const folder = isForOthers ? '/var/cache/svc-platform/databases' : cacheFolder();
  const target = join(folder, `${plan.packageNames[0]}-${plan.suite}`);
  if (!existsSync(join(target, plan.program))) {
    await mkdir(folder, { recursive: true });
    await build(target, plan);
  }
  return target;
}

/** Where servers are kept between runs. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'svc-platform', 'databases');
}

async function build(target: string, { suite, packageNames, finish }: UnpackPlan): Promise<void> {
  const work = await processFolder(`${target}.building`);
  try {
    const archives = await debianArchives({ work, suite, packageNames });
    const root = join(work, 'root');
    for (const archive of archives) {
      await run('dpkg-deb', ['--extract', archive, root]);
    }
    await Promise.all(NOT_NEEDED.map((path) => rm(join(root, path), { recursive: true, force: true })));
    await finish?.(root);
    await putInPlace(root, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Makes a folder visible, complete or not at all. */
export async function putInPlace(folder: string, target: string): Promise<void> {
  await rename(folder, target).catch((error: NodeJS.ErrnoException) => {
    // Another run was faster; its folder is as good as ours.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') {
      throw error;
    }
  });
}

/** The archive address of the host's own apt sources, so that no address of a mirror is written down here. */
async function debianMirror(): Promise<string> {
  const format = '$(IDENTIFIER)|$(REPO_URI)|$(RELEASE)';
  const { stdout } = await run('apt-get', ['indextargets', '--format', format]).catch(() => ({ stdout: '' }));
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const codename = /^VERSION_CODENAME=(.+)$/m.exec(osRelease)?.[1];
  const uri = stdout
    .split('\n')
    .map((line) => line.split('|'))
    .find(
      ([identifier, address = '', release = '']) =>
        identifier === 'Packages' &&
        /\/debian\/?$/.test(address) &&
        [codename, 'stable', 'testing', 'unstable', 'sid'].includes(release),
    )?.[1];
  if (uri === undefined) {
    throw new Error('the host has no apt source of Debian');
  }
  return uri;
}

/** What to fetch, and where to. */
export interface Download {
  /** Empty folder, which the caller removes. */
  work: string;
  suite: string;
  packageNames: readonly string[];
}

/**
 * Lets apt resolve and fetch packages with their dependencies as if nothing were installed.
 * @returns paths of the archives below `work`, verified by apt's signatures
 * @throws Error when the host has no apt, no Debian mirror or no network
 */
export async function debianArchives({ work, suite, packageNames }: Download): Promise<string[]> {
  const mirror = await debianMirror();
  const archives = join(work, 'cache', 'archives');
  await mkdir(join(work, 'state', 'lists', 'partial'), { recursive: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(work, 'root'));
  await writeFile(join(work, 'status'), '');
  const signedBy = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  await writeFile(join(work, 'sources.list'), `deb ${signedBy}${mirror} ${suite} main\n`);
  const options = [
    `Dir::Etc::SourceList=${join(work, 'sources.list')}`,
    'Dir::Etc::SourceParts=/dev/null',
    'Dir::Etc::Preferences=/dev/null',
    'Dir::Etc::PreferencesParts=/dev/null',
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::status=${join(work, 'status')}`,
    `Dir::Cache=${join(work, 'cache')}`,
    'APT::Sandbox::User=',
    'Acquire::Retries=3',
  ].flatMap((option) => ['-o', option]);
  await apt([...options, 'update', '--error-on=any']);
  await apt([...options, 'install', '--yes', '--download-only', '--no-install-recommends', ...packageNames]);
  const names = await readdir(archives);
  return names.filter((name) => name.endsWith('.deb')).map((name) => join(archives, name));
}

async function apt(args: string[]): Promise<void> {
  try {
    await run('apt-get', ['--quiet', '--quiet', ...args], {
      timeout: APT_TIMEOUT_MS,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
    throw new Error(`apt-get failed: ${stderr || (error as Error).message}`, { cause: error });
  }
}

/** The dynamic loader of the unpacked C library, followed by the folders of its libraries. */
export async function loaderAndLibraries(root: string): Promise<[string, ...string[]]> {
  const folders: string[] = [];
  for (const parent of ['usr/lib', 'lib']) {
    const names = await readdir(join(root, parent)).catch(() => []);
    folders.push(
      ...names.filter((name) => name.includes('-linux-gnu')).map((name) => join(root, parent, name)),
    );
  }
  for (const folder of folders) {
    const loader = (await readdir(folder)).find((name) => /^ld(64|-linux).*\.so\.\d$/.test(name));
    if (loader !== undefined) {
      return [join(folder, loader), ...folders];
    }
  }
  throw new Error(`no dynamic loader under ${root}`);
}

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

/** Packages whose programs start each other, and so must work by their paths. */
export interface ProgramTreePlan extends Omit<UnpackPlan, 'finish'> {
  /** Folders of programs, as in the packages. */
  folders: readonly string[];
}

/**
 * Unpacks packages so that each program works by its path: a script in its place starts it with the libraries of its own
 * suite and under its own name, by which it finds what lies beside it.
 * @returns the folder that stands for `/`
 * @throws Error when the packages cannot be had
 */
export function unpackedTree(plan: ProgramTreePlan): Promise<string> {
  return unpacked({
    ...plan,
    finish: async (root) => {
      const [loader, ...libraries] = (await loaderAndLibraries(root)).map((path) =>
        path.replace(root, '$root'),
      );
      for (const folder of plan.folders) {
        const script = [
          '#!/bin/sh',
          `root="\${0%${folder}/*}"`,
          `exec "${loader}" --argv0 "$0" --library-path "${libraries.join(':')}" "$0.elf" "$@"`,
        ];
        await wrapPrograms(join(root, folder), `${script.join('\n')}\n`);
      }
    },
  });
}

async function wrapPrograms(folder: string, script: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await lstat(path)).isFile() && (await isProgram(path))) {
      await rename(path, `${path}.elf`);
      await writeFile(path, script, { mode: 0o755 });
    }
  }
}

async function isProgram(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(ELF.byteLength), 0, ELF.byteLength, 0);
    return buffer.equals(ELF);
  } finally {
    await file.close();
  }
}
