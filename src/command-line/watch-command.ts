import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { canonicalJson } from '../common/canonical-json.js';
import { folderLimits, readPackageFolder } from '../modules/packages/reading/package-folder.js';
import { deliverFolder, type DeliveryOptions } from './deliver-order.js';
import type { Session, SvcSurroundings } from './session.js';

const LOOK_MS = 300;
const DIGEST_LENGTH = 12;

/**
 * Delivers a folder at every change until somebody ends it: stores it in a version of its own, tests the connections, commits, makes
 * a build and activates it. The id of the version is made of the content, so the same content never makes a second version.
 */
export async function watchFolder(
  session: Session,
  folder: string,
  options: Omit<DeliveryOptions, 'testConnections'>,
): Promise<number> {
  const signal = session.surroundings.untilStopped();
  let last: string | undefined;
  while (!signal.aborted) {
    const digest = await digestOf(session.surroundings, folder);
    if (digest !== last) {
      last = digest;
      const status = await deliverFolder(session, folder, {
        ...options,
        version: `watch-${digest}`,
        testConnections: true,
        commit: true,
        build: true,
        activate: true,
      });
      session.tell(`${status === 0 ? 'active' : 'not active'}; waiting for a change, until Ctrl-C`);
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return 0;
}

/** Changes with the content, and with what is wrong with it. */
async function digestOf({ env, pathOf }: SvcSurroundings, folder: string): Promise<string> {
  const content = await readPackageFolder(pathOf(folder), folderLimits(env));
  return createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, DIGEST_LENGTH);
}
