import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { canonicalJson } from '../platform/json/canonical-json.js';
import type { Principal } from '../platform/user/principal.js';
import type { JsonObject } from '#engine/json';
import { Env } from '../platform/config/env.js';
import { VersionCommittedError } from '../apps/apps.errors.js';
import type { AppVersionKey } from '../apps/apps.types.js';
import { ActiveBuildsService } from '../delivery/builds/active/active-builds.service.js';
import { AppPackagesService } from '../delivery/builds/packages/app-packages.service.js';
import { BuildReadsService } from '../delivery/builds/contents/build-reads.service.js';
import { ActiveBuildNotFoundError } from '../delivery/builds/model/builds.errors.js';
import type { BuildInfoResponseDto } from '../delivery/builds/active/active-build.dto.js';
import { BuildsService } from '../delivery/builds/making/builds.service.js';
import { VersionCommitsService } from '../delivery/builds/making/version-commits.service.js';
import { withBaseUrls, withLibraryBuilds } from '../delivery/packages/reading/delivered-document.js';
import { readPackageFolder } from '../delivery/packages/reading/package-folder.js';

/** Ids of the sample application and of the library that it uses. */
export const SAMPLE_APP = 'sample';
const LIBRARY_APP = 'sample-library';
const SAMPLE_SERVER = 'everything';
/** Prefix of version ids of the sample. Other versions that users deliver to the same application are left alone. */
const VERSION_PREFIX = 'sample-';
const DIGEST_LENGTH = 12;

const DELIVERER: Principal = {
  issuer: 'urn:svc:evaluation',
  subject: 'sample-application',
  user: {
    firstName: 'Sample',
    lastName: 'Application',
    userName: 'sample-application',
    impersonatingUser: null,
  },
  permissions: new Map(),
};

/** Thrown when the folders of the sample are missing or invalid. */
export class SampleApplicationError extends Error {
  override readonly name = 'SampleApplicationError';
}

/**
 * Delivers the sample application. Its version id is derived from its content, so a restart finds the delivery done and a changed sample
 * becomes a new version. A build activated by a user stays active.
 * @throws SampleApplicationError, PackageRefusedError
 */
export async function deliverSample(app: INestApplicationContext, folder: string): Promise<string> {
  const library = await readPart(join(folder, 'library'));
  const { document: application } = withBaseUrls(
    await readPart(join(folder, 'application')),
    new Map([[SAMPLE_SERVER, `http://127.0.0.1:${app.get(Env).get('MCP_PORT')}/mcp`]]),
  );
  const digest = createHash('sha256')
    .update(canonicalJson([library, application]))
    .digest('hex');
  const appVersionId = `${VERSION_PREFIX}${digest.slice(0, DIGEST_LENGTH)}`;
  const active = await activeBuild(app);
  if (active !== null && (active.buildSettings.applicationVersionId === appVersionId || !isOurs(active))) {
    return active.buildId;
  }
  const libraryBuild = await deliver(app, { appId: LIBRARY_APP, appVersionId }, library);
  const document = withLibraryBuilds(application, new Map([[LIBRARY_APP, libraryBuild]]));
  const build = await deliver(app, { appId: SAMPLE_APP, appVersionId }, document);
  await app.get(ActiveBuildsService).activate(DELIVERER, SAMPLE_APP, build);
  return build;
}

async function readPart(folder: string): Promise<JsonObject> {
  const { document, problems } = await readPackageFolder(folder);
  if (document === null) {
    const [first] = problems;
    throw new SampleApplicationError(
      `The sample cannot be read: ${first?.file ?? ''} ${first?.message ?? ''}`,
    );
  }
  return document;
}

async function activeBuild(app: INestApplicationContext): Promise<BuildInfoResponseDto | null> {
  try {
    return await app.get(ActiveBuildsService).info(SAMPLE_APP);
  } catch (error) {
    if (error instanceof ActiveBuildNotFoundError) {
      return null;
    }
    throw error;
  }
}

function isOurs({ buildSettings }: BuildInfoResponseDto): boolean {
  return buildSettings.applicationVersionId.startsWith(VERSION_PREFIX);
}

/** Delivers a version. Skips steps completed by an earlier, interrupted start. */
async function deliver(
  app: INestApplicationContext,
  version: AppVersionKey,
  document: JsonObject,
): Promise<string> {
  const present = await buildOf(app, version);
  if (present !== null) {
    return present;
  }
  try {
    await app.get(AppPackagesService).store(DELIVERER, version, JSON.stringify(document));
    await app.get(VersionCommitsService).commit(DELIVERER, version, 'Sample application');
  } catch (error) {
    if (!(error instanceof VersionCommittedError)) {
      throw error;
    }
  }
  const { buildId } = await app.get(BuildsService).create(DELIVERER, version);
  return buildId;
}

async function buildOf(
  app: INestApplicationContext,
  { appId, appVersionId }: AppVersionKey,
): Promise<string | null> {
  const { items: builds } = await app.get(BuildReadsService).page({ appId });
  return builds.find((build) => build.appVersionId === appVersionId)?.buildId ?? null;
}
