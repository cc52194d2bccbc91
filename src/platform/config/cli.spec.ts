import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pathAsTyped } from './cli.js';

describe('pathAsTyped', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('resolves from the folder in which npm was called, for the script that npm runs', () => {
    vi.stubEnv('INIT_CWD', '/elsewhere');
    vi.stubEnv('npm_lifecycle_event', 'deliver');
    expect(pathAsTyped('a/b', 'deliver')).toBe('/elsewhere/a/b');
    expect(pathAsTyped('/a', 'deliver')).toBe('/a');
    vi.stubEnv('npm_lifecycle_event', 'another');
    expect(pathAsTyped('a', 'deliver')).toBe(join(process.cwd(), 'a'));
  });

  it('resolves from the working directory without npm', () => {
    vi.stubEnv('INIT_CWD', undefined);
    vi.stubEnv('npm_lifecycle_event', undefined);
    expect(pathAsTyped('a', 'deliver')).toBe(join(process.cwd(), 'a'));
  });
});
