import { execFile } from 'node:child_process';
import { appendFile, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PrivateServer } from '../../../test/support/databases/private-server.js';
import { serverProgram } from '../../../test/support/databases/server-program.js';
import { rows } from './rows.js';

const SIZE_MB = 48;
const CHUNKS = [1024 * 1024, 4 * 1024];
const MOUNT = `mount -t tmpfs -o size=${SIZE_MB}M tmpfs "$1" && shift && exec "$@"`;
const FILLER = 'filler';
const FILE = 'svc.sqlite';

/**
 * A small file system that one process sees in place of a folder, and that disappears with the process. Requires no
 * administrator privileges on hosts that permit user namespaces.
 */
export class SmallDisk {
  /** Command prefix that runs a program with this disk and becomes its process. */
  readonly command: readonly string[];

  private constructor(private readonly folder: string) {
    this.command = ['unshare', '--user', '--map-root-user', '--mount', '--', 'sh', '-c', MOUNT, 'sh', folder];
  }

  /** Creates a disk. Returns undefined if the host does not permit it. */
  static async at(folder: string): Promise<SmallDisk | undefined> {
    await mkdir(folder, { recursive: true });
    const disk = new SmallDisk(folder);
    const [file, ...args] = [...disk.command, 'true'];
    return promisify(execFile)(file, args).then(
      () => disk,
      () => undefined,
    );
  }

  /** DATABASE_URL of an embedded database on the disk, for the process that has the disk. */
  get databaseUrl(): string {
    return `sqlite:${join(this.folder, FILE)}`;
  }

  /**
   * Copies the state that a crash at this moment would leave.
   * @param pid id of the process that has the disk, suspended during the copy
   * @returns DATABASE_URL of the copy
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

  /** Fills the disk completely. The database can still write into the existing space of its files. */
  async fill(pid: number): Promise<void> {
    for (const size of CHUNKS) {
      while (await this.append(pid, size)) {
        // Repeat until it is full.
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

/** Error codes of the server for a full table or tablespace. */
const FULL_CODES = ['ER_RECORD_FILE_FULL', 'ER_DISK_FULL'];
/** Row sizes in bytes, decreasing to fill the remaining space but for a little: with smaller rows MySQL crashes now and then. */
const ROWS = [1024 * 1024, 64 * 1024, 7 * 1024, 1024];

/**
 * Starts a MySQL server that keeps all tables in one file of limited size, so it reports a full disk. MariaDB 10.11 keeps
 * its undo log in the same file, so nothing could be deleted once it is full.
 */
export function smallServer(): Promise<PrivateServer> {
  return serverProgram('mysql').then((program) =>
    PrivateServer.start(program, {
      settings: [
        '--innodb-file-per-table=OFF',
        `--innodb-data-file-path=ibdata1:12M:autoextend:max:${SIZE_MB}M`,
      ],
    }),
  );
}

/** Fills the data file, so that no table can grow. */
export async function fill(databaseUrl: string): Promise<void> {
  await rows(databaseUrl, `CREATE TABLE ${FILLER} (id INT AUTO_INCREMENT PRIMARY KEY, bytes LONGBLOB)`);
  for (const size of ROWS) {
    while (await insert(databaseUrl, size)) {
      // Repeat until it is full.
    }
  }
}

export async function free(databaseUrl: string): Promise<void> {
  await rows(databaseUrl, `DROP TABLE ${FILLER}`);
}

async function insert(databaseUrl: string, size: number): Promise<boolean> {
  try {
    await rows(databaseUrl, `INSERT INTO ${FILLER} (bytes) VALUES (REPEAT('x', ${size}))`);
    return true;
  } catch (error) {
    if (!FULL_CODES.includes(String((error as { code?: unknown }).code))) {
      throw error;
    }
    return false;
  }
}
