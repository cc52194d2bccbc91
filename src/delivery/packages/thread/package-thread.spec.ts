import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { WorkerPool } from '../../../platform/threads/worker.pool.js';
import { PackageChecksBusyError } from '../model/packages.errors.js';
import { PackageThread } from './package-thread.js';
import { limitedEnv } from '../../../../test/support/limits/limits.js';

const TASK = { json: '{}', appId: 'app' };

describe('PackageThread', () => {
  const thread = new PackageThread(limitedEnv('maintenance', {}));
  const run = vi.spyOn(WorkerPool.prototype, 'run');
  const ready = vi.spyOn(WorkerPool.prototype, 'ready').mockResolvedValue();
  afterEach(() => run.mockReset());
  afterAll(() => {
    run.mockRestore();
    ready.mockRestore();
  });

  it('retries once when its worker ends for an unknown reason', async () => {
    const read = { outline: null, problems: [] };
    run.mockResolvedValueOnce({ lost: 'ended' }).mockResolvedValueOnce({ result: read });
    expect(await thread.read(TASK)).toEqual(read);
    run.mockResolvedValue({ lost: 'ended' });
    await expect(thread.read(TASK)).rejects.toThrow('ended unexpectedly');
    expect(run).toHaveBeenCalledTimes(4);
  });

  it.each(['refused', 'loading', 'stopping'])(
    'does not blame the package when no worker is available: %s',
    async (lost) => {
      run.mockResolvedValue({ lost });
      await expect(thread.read(TASK)).rejects.toThrow(PackageChecksBusyError);
    },
  );

  it.each([
    ['memory', 'MB'],
    ['timeout', 'ms'],
  ])('names the limit that a package exceeds: %s', async (lost, unit) => {
    run.mockResolvedValue({ lost });
    const { problems } = await thread.read(TASK);
    expect(problems).toMatchObject([{ code: 'PACKAGE_TOO_COMPLEX' }]);
    expect(problems[0]?.message).toMatch(new RegExp(`took .* than \\d+ ${unit}`));
    expect(run).toHaveBeenCalledOnce();
  });
});
