import { lstat, open, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loaderAndLibraries, type UnpackPlan, unpacked } from './debian-package.js';

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
