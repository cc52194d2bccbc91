import { SettingUnusableError } from '../../config/start.error.js';

/**
 * Waits until a server listens.
 * @param port name of the setting of its port
 * @throws SettingUnusableError when it may not, or when another process does
 */
export async function listening(port: 'PORT' | 'METRICS_PORT', started: Promise<unknown>): Promise<void> {
  try {
    await started;
  } catch (error) {
    throw new SettingUnusableError(`HOST and ${port} name an address that cannot be listened on`, error);
  }
}
