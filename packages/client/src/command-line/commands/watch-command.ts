import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../../index.js';
import { canonicalJson } from '../../../../../src/platform/json/canonical-json.js';
import { Clock } from '../../../../../src/platform/clock.js';
import { TOP_NAMES } from '../../../../../src/delivery/packages/reading/folder-names.js';
import {
  readPackageFolder,
  type ReadFolder,
} from '../../../../../src/delivery/packages/reading/package-folder.js';
import { appIdIn } from './author-commands.js';
import { deliverFolder, type DeliveryOptions } from '../deliver-order.js';
import type { Session } from '../session.js';

type WatchOptions = Omit<DeliveryOptions, 'testConnections'>;

const LOOK_MS = 300;
const DIGEST_LENGTH = 12;
const TIME_LENGTH = 8;
const clock = new Clock();

interface Look {
  content: ReadFolder;
  appId: string | undefined;
  /** Version that has this content, and what the command line says otherwise. */
  version: string;
  /** When a file was saved last, in milliseconds; a save that changes nothing counts too. */
  savedAt: number;
}

/**
 * Delivers a folder at every change until somebody ends it: stores it in a version of its own, tests the connections, commits, makes
 * a build and activates it. The id of the version is made of the content, so the same content never makes a second version; and
 * nothing is done where a build of it is active when the watch begins. What has failed is tried again when a file is saved.
 */
export async function watchFolder(session: Session, folder: string, options: WatchOptions): Promise<number> {
  const signal = session.surroundings.untilStopped();
  const tell = (line: string): void =>
    session.tell(`${clock.now().toTimeString().slice(0, TIME_LENGTH)} ${line}; until Ctrl-C`);
  let seen = await lookAt(session, folder, options);
  let done: Look | undefined;
  let isFailed = false;
  if (await isActive(session, seen)) {
    done = seen;
    tell('the active build has this content; waiting for a change');
  }
  while (!signal.aborted) {
    const look = await lookAt(session, folder, options);
    const isNew = look.version !== done?.version || (isFailed && look.savedAt !== done.savedAt);
    // Twice the same: an editor that writes a file in steps is done.
    if (isNew && look.version === seen.version && look.savedAt === seen.savedAt) {
      done = look;
      isFailed = (await deliverLook(session, folder, options, look)) !== 0;
      tell(
        isFailed
          ? 'not active; waiting for a change, or for a file that is saved once more'
          : 'active; waiting for a change',
      );
    }
    seen = look;
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return 0;
}

function deliverLook(
  session: Session,
  folder: string,
  options: WatchOptions,
  { version, appId, content }: Look,
): Promise<number> {
  const all = { testConnections: true, commit: true, build: true, activate: true } as const;
  const app = appId === undefined ? {} : { app: appId };
  return deliverFolder(session, folder, { ...options, ...all, ...app, version }, content);
}

async function lookAt(
  { surroundings: { pathOf } }: Session,
  folder: string,
  { app, library, baseUrl }: WatchOptions,
): Promise<Look> {
  const savedAt = await lastSave(pathOf(folder));
  const content = await readPackageFolder(pathOf(folder));
  const appId = app ?? appIdIn(content.document);
  // Files beside the package change nothing. What cannot be read is known by what is wrong with it.
  const text = canonicalJson({
    content: content.document ?? content.problems,
    appId: appId ?? null,
    library,
    baseUrl,
  });
  const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
  return { content, appId, version: `watch-${digest}`, savedAt };
}

async function lastSave(folder: string): Promise<number> {
  const names = await Promise.all(
    TOP_NAMES.map(async (top) => {
      const files = await readdir(join(folder, top)).catch(() => []);
      return [top, ...files.map((file) => join(top, file))];
    }),
  );
  const times = await Promise.all(
    names.flat().map(async (name) => (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0),
  );
  return Math.max(0, ...times);
}

async function isActive(session: Session, { appId, version }: Look): Promise<boolean> {
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
