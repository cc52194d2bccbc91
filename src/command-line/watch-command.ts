import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../clients/typescript/src/index.js';
import { canonicalJson } from '../common/canonical-json.js';
import { folderLimits, readPackageFolder } from '../modules/packages/reading/package-folder.js';
import { appIdOf } from './author-commands.js';
import { deliverFolder, type DeliveryOptions } from './deliver-order.js';
import type { Session } from './session.js';

type WatchOptions = Omit<DeliveryOptions, 'testConnections'>;

const LOOK_MS = 300;
const DIGEST_LENGTH = 12;

/**
 * Delivers a folder at every change until somebody ends it: stores it in a version of its own, tests the connections, commits, makes
 * a build and activates it. The id of the version is made of the content, so the same content never makes a second version; and
 * nothing is done where a build of it is active when the watch begins.
 */
export async function watchFolder(session: Session, folder: string, options: WatchOptions): Promise<number> {
  const signal = session.surroundings.untilStopped();
  const tell = (line: string): void => session.tell(`${session.time()} ${line}; until Ctrl-C`);
  let seen = await versionOf(session, folder, options);
  let last: string | undefined;
  if (await isActive(session, folder, { ...options, version: seen })) {
    last = seen;
    tell('nothing has changed since the active build; waiting for a change');
  }
  while (!signal.aborted) {
    const version = await versionOf(session, folder, options);
    // Twice the same: an editor that writes a file in steps is done.
    if (version === seen && version !== last) {
      last = version;
      const status = await deliverFolder(session, folder, {
        ...options,
        version,
        testConnections: true,
        commit: true,
        build: true,
        activate: true,
      });
      tell(`${status === 0 ? 'active' : 'not active'}; waiting for a change`);
    }
    seen = version;
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return 0;
}

/** Changes with the content, with what is wrong with it, and with what the command line says otherwise. */
async function versionOf(
  { surroundings: { env, pathOf } }: Session,
  folder: string,
  { app, library, baseUrl }: WatchOptions,
): Promise<string> {
  const content = await readPackageFolder(pathOf(folder), folderLimits(env));
  const text = canonicalJson({ ...content, app: app ?? null, library, baseUrl });
  return `watch-${createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH)}`;
}

/** Whether the active build is one of this version. */
async function isActive(
  session: Session,
  folder: string,
  { app, version }: WatchOptions & { version: string },
): Promise<boolean> {
  const appId = app ?? (await appIdOf(session.surroundings, folder));
  if (appId === undefined) {
    return false;
  }
  try {
    const svc = await session.service();
    const { data: active } = await svc.getActiveBuild({ path: { appId } });
    const { data: build } = await svc.getBuild({ path: { appId, buildId: active.buildId } });
    return build.applicationVersionId === version;
  } catch (error) {
    if (error instanceof SvcError) {
      return false;
    }
    throw error;
  }
}
