import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  overrides: Record<string, string>;
  allowScripts: Record<string, boolean>;
}
interface LockFile {
  packages: Record<string, { integrity?: string; hasInstallScript?: boolean; link?: boolean }>;
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const manifest = read('package.json') as Manifest;
const installed = Object.entries((read('package-lock.json') as LockFile).packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
);

describe('third-party packages', () => {
  it('are pinned to an exact version', () => {
    const { dependencies, devDependencies, overrides } = manifest;
    const versions = [dependencies, devDependencies, overrides].flatMap((part) => Object.entries(part));
    expect(versions.length).toBeGreaterThan(20);
    expect(
      versions.filter(([, version]) => !/^(npm:[@/\w]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    ).toEqual([]);
  });

  it('are locked by the hash of their content', () => {
    expect(installed.length).toBeGreaterThan(100);
    const unlocked = installed.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true);
    expect(unlocked.map(([path]) => path)).toEqual([]);
  });

  it('run no install scripts', () => {
    const names = installed
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(names.length).toBeGreaterThan(0);
    // npm warns at every installation about a package with an install script that is not listed.
    expect(names.filter((name) => manifest.allowScripts[name] !== false)).toEqual([]);
  });
});
