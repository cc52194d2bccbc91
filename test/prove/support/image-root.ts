import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { prove } from './proof.js';

const run = promisify(execFile);

/** What an engine does first: a mount table of its own, a root that nobody can write to, an empty `/tmp`, devices and processes. */
const MOUNTS =
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t tmpfs tmpfs "$0/tmp" && ' +
  'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec unshare --root="$0" "$@"';

/** Of the image configuration of OCI, what a container is started with. */
export interface RunConfig {
  User: string;
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  Healthcheck: { Test: string[] };
}

/** The unpacked root file system of an image, and what its configuration says. */
export class ImageRoot {
  private constructor(
    /** Folder that stands for `/`. */
    readonly folder: string,
    readonly config: RunConfig,
    /** Bytes of the layers, packed. */
    readonly packedBytes: number,
  ) {}

  /**
   * Unpacks the only image of a layout.
   * @param layout folder with `index.json`
   * @param folder new folder for the root file system
   * @throws ProofError when a blob is not what its digest says
   */
  static async unpack(layout: string, folder: string): Promise<ImageRoot> {
    await mkdir(folder);
    const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as {
      manifests: [Descriptor];
    };
    const manifest = JSON.parse((await blob(layout, index.manifests[0])).toString()) as {
      config: Descriptor;
      layers: Descriptor[];
    };
    const config = JSON.parse((await blob(layout, manifest.config)).toString()) as {
      config: RunConfig;
      rootfs: { diff_ids: string[] };
    };
    for (const [position, layer] of manifest.layers.entries()) {
      const tar = gunzipSync(await blob(layout, layer));
      prove(digestOf(tar) === config.rootfs.diff_ids[position], `layer ${position} is not what it says`);
      const untar = run('tar', ['--extract', '--preserve-permissions', '--directory', folder]);
      untar.child.stdin?.end(tar);
      await untar;
    }
    const bytes = manifest.layers.reduce((sum, { size }) => sum + size, 0);
    return new ImageRoot(folder, config.config, bytes);
  }

  /**
   * A command that runs a program as a container of this image: read-only root, the user of the image, nothing of the host's files.
   * @param args in place of the image's `Cmd`
   */
  command(args: readonly string[] = this.config.Cmd): string[] {
    return this.within([...this.config.Entrypoint, ...args]);
  }

  /** The health check of the image as a command. */
  get healthCommand(): string[] {
    return this.within(this.config.Healthcheck.Test.slice(1));
  }

  /** Environment variables that the image sets, but PATH: the host's one finds what contains the program. */
  get environment(): Record<string, string> {
    const pairs = this.config.Env.map((pair) => pair.split(/=(.*)/s).slice(0, 2));
    return Object.fromEntries(pairs.filter(([name]) => name !== 'PATH'));
  }

  private within(program: readonly string[]): string[] {
    const { WorkingDir, User } = this.config;
    const [user, group] = User.split(':');
    const isRoot = process.getuid?.() === 0;
    // Who is not root has one user to show, who is already without rights.
    const own = isRoot ? [] : ['--user', '--map-root-user'];
    const as = isRoot ? [`--setgid=${group}`, `--setuid=${user}`] : [];
    const start = ['unshare', ...own, '--mount', 'sh', '-c', MOUNTS, this.folder];
    return [...start, `--wd=${WorkingDir}`, ...as, ...program];
  }
}

interface Descriptor {
  digest: string;
  size: number;
}

async function blob(layout: string, { digest, size }: Descriptor): Promise<Buffer> {
  const bytes = await readFile(join(layout, 'blobs', digest.replace(':', '/')));
  prove(bytes.length === size && digestOf(bytes) === digest, `${digest} holds something else`);
  return bytes;
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
