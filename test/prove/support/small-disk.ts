import { execFile } from 'node:child_process';
import { appendFile, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SIZE_MB = 48;
const CHUNKS = [1024 * 1024, 4 * 1024];
const MOUNT = `mount -t tmpfs -o size=${SIZE_MB}M tmpfs "$1" && shift && exec "$@"`;
const FILLER = 'filler';
const FILE = 'svc.sqlite';

/**
 * A small file system that one process sees in place of a folder, and that ends with it. Needs no right of an administrator
 * where the host lets everybody make user namespaces.
 */
export class SmallDisk {
  /** Command that runs another one with this disk, and becomes its process. */
  readonly command: readonly string[];

  private constructor(private readonly folder: string) {
    this.command = ['unshare', '--user', '--map-root-user', '--mount', '--', 'sh', '-c', MOUNT, 'sh', folder];
  }

  /** @returns undefined when this host lets nobody make one */
  static async at(folder: string): Promise<SmallDisk | undefined> {
    await mkdir(folder, { recursive: true });
    const disk = new SmallDisk(folder);
    const [file, ...args] = [...disk.command, 'true'];
    return promisify(execFile)(file, args).then(
      () => disk,
      () => undefined,
    );
  }

  /** DATABASE_URL of an embedded file on the disk, for the process that has it. */
  get databaseUrl(): string {
    return `sqlite:${join(this.folder, FILE)}`;
  }

  /**
   * What a crash at this moment would leave, for everybody else.
   * @param pid of the process that has the disk; it stands still meanwhile
   * @returns DATABASE_URL of a copy
   */
  async copyOf(pid: number): Promise<string> {
    const folder = await mkdtemp(`${this.folder}-copy-`);
    process.kill(pid, 'SIGSTOP');
    try {
      for (const name of [FILE, `${FILE}-wal`]) {
        await copyFile(this.pathOf(pid, name), join(folder, name));
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    return `sqlite:${join(folder, FILE)}`;
  }

  /** Leaves not a byte free. The database still writes into the room that its own files have. */
  async fill(pid: number): Promise<void> {
    for (const size of CHUNKS) {
      while (await this.append(pid, size)) {
        // Until it is full.
      }
    }
  }

  async free(pid: number): Promise<void> {
    await rm(this.pathOf(pid, FILLER));
  }

  private async append(pid: number, size: number): Promise<boolean> {
    try {
      await appendFile(this.pathOf(pid, FILLER), Buffer.alloc(size));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
        throw error;
      }
      return false;
    }
  }

  private pathOf(pid: number, name: string): string {
    return join(`/proc/${pid}/root`, this.folder, name);
  }
}
