import { ProbeError } from '../../model/probe.error.js';

/**
 * Loads an optional driver when the first component of its kind is looked at.
 * @param packageName npm package, for the recommendation when it is not installed
 * @throws ProbeError `driver` when it is not installed
 */
export async function loadDriver<T>(packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') {
      throw new ProbeError('driver', packageName);
    }
    throw error;
  }
}
