import { constants, type Dirent } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseExactly, refuseRounded, RoundedIntegerError, jsonFault } from '#engine/json';
import {
  EXTENSIONS,
  isReadme,
  topLevelHint,
  folderHint,
  isExpectedExtra,
  TOP_NAMES,
} from './folder-names.js';
import { APPLICATION_FILE } from './package-reader.js';
import { PackageProblems } from '../model/package-problems.js';
import type { PackageProblem } from '../model/package.types.js';
import { packageLimits } from '../package.limits.js';

/** A folder converted to one document; null if it could not be read, with problems that say why. */
export interface ReadFolder {
  document: Record<string, unknown> | null;
  problems: PackageProblem[];
}

type Part = keyof typeof EXTENSIONS;
/** Hidden files, and temporary files of editors. */
const HIDDEN = /^\.|~$|^#.*#$|\.(swp|tmp)$|^4913$/;

/**
 * Reads the folder form of a package: application.json, systems/*.json, workflows/*.json, processes/*.bpmn. Ignores names that begin with a
 * dot and temporary files of editors. Reads nothing outside of the folder: links are rejected.
 * @param folder path of the folder; it may itself be a link
 */
export async function readPackageFolder(folder: string): Promise<ReadFolder> {
  return new FolderReader(folder).read();
}

class FolderReader {
  private readonly problems = new PackageProblems();
  private bytes = 0;

  constructor(private readonly folder: string) {}

  async read(): Promise<ReadFolder> {
    const root = await this.root();
    if (root === undefined) {
      return { document: null, problems: this.problems.list() };
    }
    await this.checkTop(root);
    const document = {
      application: await this.json(root, APPLICATION_FILE),
      systems: await this.entries(root, 'systems'),
      workflows: await this.entries(root, 'workflows'),
      processes: await this.processes(root),
    };
    const { hasErrors } = this.problems;
    return { document: hasErrors ? null : document, problems: this.problems.list() };
  }

  private async root(): Promise<string | undefined> {
    try {
      const root = await realpath(this.folder);
      if ((await stat(root)).isDirectory()) {
        return root;
      }
    } catch {
      // Reported below, in the same way as a missing folder.
    }
    this.fileError('FOLDER_NOT_FOUND', '', `The folder "${this.folder}" does not exist or cannot be read.`);
    return undefined;
  }

  private async checkTop(root: string): Promise<void> {
    for (const entry of await this.list(root)) {
      const { name } = entry;
      if (!TOP_NAMES.includes(name) && !isExpectedExtra(name)) {
        const message = `Not part of a package, so it is ignored.${topLevelHint(entry)}`;
        this.problems.warning('FILE_UNKNOWN', { file: name, element: null }, message);
      }
    }
  }

  private async entries(root: string, part: Part): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for (const file of await this.filesOf(root, part)) {
      const content = await this.json(root, file);
      if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
        found.push({ ...content, file });
      } else if (content !== undefined) {
        this.fileError('VALUE_INVALID', file, 'The file must contain a JSON object.');
      }
    }
    return found;
  }

  private async processes(root: string): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for (const file of await this.filesOf(root, 'processes')) {
      const bpmn = await this.text(root, file);
      if (bpmn !== undefined) {
        found.push({ file, bpmn });
      }
    }
    return found;
  }

  private async filesOf(root: string, part: Part): Promise<string[]> {
    const top = (await this.list(root)).find(({ name }) => name === part);
    if (top === undefined) {
      return [];
    }
    if (!top.isDirectory()) {
      this.fileError('FILE_NOT_REGULAR', part, 'Must be a folder, not a link.');
      return [];
    }
    const entries = await this.list(join(root, part));
    if (entries.length > packageLimits[part]) {
      this.fileError(
        'TOO_MANY',
        part,
        `At most ${packageLimits[part]} files are allowed; this folder has ${entries.length}.`,
      );
      return [];
    }
    return entries
      .filter((entry) => !isReadme(entry, EXTENSIONS[part]))
      .flatMap((entry) => this.fileOf(part, entry) ?? []);
  }

  private fileOf(part: Part, entry: Dirent): string | undefined {
    const file = `${part}/${entry.name}`;
    if (!entry.isFile()) {
      this.fileError('FILE_NOT_REGULAR', file, 'Must be a file, not a link or folder.');
      return undefined;
    }
    if (!entry.name.endsWith(EXTENSIONS[part])) {
      const message = `Files of ${part} end with "${EXTENSIONS[part]}".${folderHint(entry.name)}`;
      this.fileError('FILE_UNKNOWN', file, message);
      return undefined;
    }
    return file;
  }

  /** Lists a folder in the same order on every machine. */
  private async list(folder: string): Promise<Dirent[]> {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter(({ name }) => !HIDDEN.test(name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  private async json(root: string, file: string): Promise<unknown> {
    const text = await this.text(root, file);
    if (text === undefined) {
      return undefined;
    }
    const json = text.replace(/^\uFEFF/, '');
    try {
      return parseExactly(json, refuseRounded);
    } catch (error) {
      if (error instanceof RoundedIntegerError) {
        this.fileError('VALUE_INVALID', file, `${error.message}.`);
      } else {
        this.fileError('JSON_INVALID', file, `Not JSON: ${jsonFault(error, json) ?? 'it nests too deeply'}.`);
      }
      return undefined;
    }
  }

  private async text(root: string, file: string): Promise<string | undefined> {
    const content = await this.content(join(root, file), file);
    try {
      return content && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      this.fileError('ENCODING_INVALID', file, 'Must be UTF-8.');
      return undefined;
    }
  }

  /** Reads a file without following links, and no more than is left of the limit. */
  private async content(path: string, file: string): Promise<Buffer | undefined> {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
      () => null,
    );
    if (handle === null) {
      this.fileError('FILE_NOT_READABLE', file, 'The file does not exist, is a link, or cannot be read.');
      return undefined;
    }
    try {
      const stats = await handle.stat();
      this.bytes += stats.size;
      if (!stats.isFile()) {
        this.fileError('FILE_NOT_REGULAR', file, 'Must be a file.');
        return undefined;
      }
      if (this.bytes > packageLimits.bytes) {
        const message = `The files of a package can have at most ${packageLimits.bytes} bytes.`;
        this.fileError('PACKAGE_TOO_LARGE', file, message);
        return undefined;
      }
      const content = Buffer.alloc(stats.size);
      const { bytesRead } = await handle.read(content, 0, stats.size, 0);
      return content.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  private fileError(code: string, file: string, message: string): void {
    this.problems.error(code, { file, element: null }, message);
  }
}
