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

/** The server's numbers for a table, or the table space, that is full. */
const FULL_CODES = ['ER_RECORD_FILE_FULL', 'ER_DISK_FULL'];
/** Bytes of a row: large ones first, then such as fit into the room that is left. */
const ROWS = [1024 * 1024, 64 * 1024, 7 * 1024, 1024, 100];

/**
 * A MySQL server that keeps every table in one file which must not grow beyond a size: what it says then it says of a full disk.
 * MariaDB 10.11 has its undo log in the same file, so that nothing can be removed either once it is full.
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

/** Fills the one file, so that no table of the database finds room for more. */
export async function fill(databaseUrl: string): Promise<void> {
  await rows(databaseUrl, `CREATE TABLE ${FILLER} (id INT AUTO_INCREMENT PRIMARY KEY, bytes LONGBLOB)`);
  for (const size of ROWS) {
    while (await insert(databaseUrl, size)) {
      // Until it is full.
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
