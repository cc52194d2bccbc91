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
/** Folders of the packages that no program reads at run time. */
const NOT_NEEDED = ['usr/share/doc', 'usr/share/man', 'usr/share/locale', 'usr/share/info'];

/** A program unpacked from Debian packages into its own folder. */
export interface UnpackedProgram {
  /** Folder that corresponds to `/` in the packages. */
  root: string;
  /** Command and leading arguments that start the program with the libraries of its suite. */
  command: [string, ...string[]];
}

/**
 * Unpacks a program of a Debian suite with all its libraries into the user's cache folder. Nothing is installed: this
 * needs no root privileges, runs no maintainer scripts, starts no daemons and leaves the host's packages unchanged.
 * The packages come from the mirror in the host's apt sources, and apt verifies their signatures.
 *
 * Safe for concurrent use: each caller builds in a temporary folder and renames it atomically.
 * @param suite Debian suite, such as `bookworm`
 * @param packageName binary package that contains the program
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
  /** The first one determines the folder's name. */
  packageNames: readonly [string, ...string[]];
  /** A file that exists once everything is unpacked. */
  program: string;
  /** Whether the programs run as a user other than root, who cannot read root's home folder. */
  runsAsOtherUser?: boolean;
  /** Modifies the unpacked files before the folder becomes visible to other callers. */
  finish?: (root: string) => Promise<void>;
}

/**
 * Unpacks packages of a Debian suite and their dependencies, and returns the folder that corresponds to `/`. See
 * {@link unpackedProgram}.
 * @throws Error when the host has no apt, no Debian mirror or no network
 */
export async function unpacked(plan: UnpackPlan): Promise<string> {
  const isShared = plan.runsAsOtherUser === true && process.getuid?.() === 0;
  const folder = isShared ? '/var/cache/svc-platform/databases' : cacheFolder();
  const target = join(folder, `${plan.packageNames[0]}-${plan.suite}`);
  if (!existsSync(join(target, plan.program))) {
    await mkdir(folder, { recursive: true });
    await build(target, plan);
  }
  return target;
}

/** Folder that keeps server programs between runs. */
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

/** Renames a finished folder to its final path. Keeps the existing folder if another process was faster. */
export async function putInPlace(folder: string, target: string): Promise<void> {
  await rename(folder, target).catch((error: NodeJS.ErrnoException) => {
    // Another process was faster; its folder has the same content.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') {
      throw error;
    }
  });
}

/** Returns the address of the Debian mirror in the host's apt sources. */
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
    throw new Error('The host has no apt source for Debian.');
  }
  return uri;
}

/** Packages to download, and the folder to download them to. */
export interface Download {
  /** Empty folder; the caller removes it. */
  work: string;
  suite: string;
  packageNames: readonly string[];
}

/**
 * Downloads packages and their dependencies with apt, as if nothing were installed.
 * @returns paths of the archives below `work`; apt has verified their signatures
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

/** Returns the dynamic loader of the unpacked C library, followed by the library folders. */
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
  throw new Error(`No dynamic loader found in ${root}.`);
}

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

/** Packages whose programs start each other by path. */
export interface ProgramTreePlan extends Omit<UnpackPlan, 'finish'> {
  /** Folders of programs, as absolute paths in the packages. */
  folders: readonly string[];
}

/**
 * Unpacks packages so that each program can be started by its path. A wrapper script replaces each program and starts it
 * with the libraries of its suite and its original name, so that it finds neighboring files.
 * @returns the folder that corresponds to `/`
 * @throws Error when the packages are not available
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
