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
import { deliverFolder, type DeliveryOptions } from '../deliver-folder.js';
import type { Session } from '../session.js';

type WatchOptions = Omit<DeliveryOptions, 'testConnections'>;

const LOOK_MS = 300;
const DIGEST_LENGTH = 12;
const TIME_LENGTH = 8;
const clock = new Clock();

interface Snapshot {
  content: ReadFolder;
  appId: string | undefined;
  /** Version derived from the content and the command line options. */
  version: string;
  /** Time of the last save in milliseconds, including saves that changed nothing. */
  savedAt: number;
}

/**
 * Delivers a folder at every change until interrupted: stores it in a new version, tests connections, commits, builds and activates. The
 * version id is derived from the content, so the same content never creates a second version, and nothing is delivered at first if a build
 * of it is already active. A failed delivery is retried when a file is saved.
 */
export async function watchFolder(session: Session, folder: string, options: WatchOptions): Promise<number> {
  const signal = session.environment.untilStopped();
  const note = (line: string): void =>
    session.note(`${clock.now().toTimeString().slice(0, TIME_LENGTH)} ${line}; press Ctrl-C to stop`);
  let seen = await lookAt(session, folder, options);
  let done: Snapshot | undefined;
  let isFailed = false;
  if (await isActive(session, seen)) {
    done = seen;
    note('the active build has this content; waiting for a change');
  }
  while (!signal.aborted) {
    const look = await lookAt(session, folder, options);
    const isNew = look.version !== done?.version || (isFailed && look.savedAt !== done.savedAt);
    // Deliver when two consecutive snapshots are equal, since editors may write a file in steps.
    if (isNew && look.version === seen.version && look.savedAt === seen.savedAt) {
      done = look;
      isFailed = (await deliverLook(session, folder, options, look)) !== 0;
      note(
        isFailed
          ? 'not active; waiting for a change, or for a file to be saved again'
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
  { version, appId, content }: Snapshot,
): Promise<number> {
  const all = { testConnections: true, commit: true, build: true, activate: true } as const;
  const app = appId === undefined ? {} : { app: appId };
  return deliverFolder(session, folder, { ...options, ...all, ...app, version }, content);
}

async function lookAt(
  { environment: { pathOf } }: Session,
  folder: string,
  { app, library, baseUrl }: WatchOptions,
): Promise<Snapshot> {
  const savedAt = await lastSave(pathOf(folder));
  const content = await readPackageFolder(pathOf(folder));
  const appId = app ?? appIdIn(content.document);
  // Ignores files next to the package. An unreadable package is identified by its problems.
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

async function isActive(session: Session, { appId, version }: Snapshot): Promise<boolean> {
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
