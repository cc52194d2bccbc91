import { type RetryPolicy, withRetries } from '../../../platform/concurrency/retry.js';
import { jsonParts, memberOf } from '../../../platform/json/json-part.js';
import { unpackBytes } from '../../../platform/json/packed-text.js';
import { runYielding } from '#engine/support';
import type { Database } from '../../../store/database.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { DraftNode } from '../../packages/drafts/draft-workflows.js';
import type { LibraryReference } from '../../packages/model/package.types.js';
import { PackageMovedError } from '../model/builds.errors.js';
import type { PackageText } from '../model/builds.types.js';
import { draftTexts, type WorkflowText } from '../model/workflow-text.js';
import { AppPackages } from '../storage/app-packages.repository.js';

/** Levels of JSON to parse: members of the document, of its application and systems, and of each system. */
const LEVELS = 3;
/** The package of a version as it was delivered; null when there is none. Not inside of a transaction. */
export async function storedPackage(database: Database, version: AppVersionKey): Promise<PackageText | null> {
  const row = await database.read((manager) => AppPackages.document(manager, version));
  return row && { json: await unpackBytes(row.document), checksum: row.checksum };
}

/** Returns the checked workflows of a version; empty without a package. Not for use inside a transaction. */
export async function storedWorkflows(
  database: Database,
  version: AppVersionKey,
): Promise<WorkflowText<DraftNode>[]> {
  const row = await database.read((manager) => AppPackages.workflows(manager, version));
  return row === null ? [] : runYielding(draftTexts<DraftNode>(await unpackBytes(row.workflows)));
}

/**
 * Returns the libraries and the resource names of systems in a stored package, without parsing the rest of it. The shape was checked when
 * it was stored.
 */
export async function namesOf(json: Buffer): Promise<{ libraries: LibraryReference[]; systems: string[] }> {
  const document = await runYielding(jsonParts(json, LEVELS));
  const libraries = memberOf(memberOf(document, 'application'), 'libraries')?.read() ?? [];
  const systems = memberOf(document, 'systems')?.parts ?? [];
  return {
    libraries: libraries as LibraryReference[],
    systems: systems.map((system) => memberOf(system, 'resourceName')?.read() as string),
  };
}

/** Retries work that stores only if the package it has read is still there. */
const IF_MOVED: RetryPolicy = { retries: 4, recover: (error) => error instanceof PackageMovedError };

/**
 * Runs work that reads the package of a version first and stores only if the package is still there.
 * @throws what the work throws; PackageMovedError when others stored packages all the time
 */
export function retryIfMoved<Result>(work: () => Promise<Result>): Promise<Result> {
  return withRetries(IF_MOVED, work);
}
