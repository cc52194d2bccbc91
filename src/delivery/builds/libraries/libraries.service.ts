import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Permission } from '../../../platform/auth/permission.js';
import { mayFor } from '../../../platform/user/grant.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService, type AuditEntry } from '../../../audit/recording/audit.service.js';
import type { LibraryBuild, LibraryReference, PackageProblem } from '../../packages/model/package.types.js';
import { packageLimits } from '../../packages/package.limits.js';
import type { ProcessGraph } from '#engine/definitions';
import { BuildDefinitionsService } from '../contents/build-definitions.service.js';
import { LibraryNotUsableError } from '../model/builds.errors.js';
import type { BuildSummary, IndirectLibrary, NamedLibrary } from '../model/builds.types.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import { Builds, LibraryRights } from '../storage/builds.repository.js';
import { libraryTree, type DirectLibrary } from './library-tree.js';

/** The libraries that a package names. */
export interface ResolvedLibraries {
  /** The named libraries that exist, with what they offer. */
  direct: LibraryBuild[];
  /** The same libraries, with the versions that they were built from. */
  named: NamedLibrary[];
  /** The named libraries and, at every level, theirs. */
  tree: BuildLibraryDto[];
  /** Problems of the tree. The check of the package reports unknown builds. */
  problems: PackageProblem[];
}

/**
 * Manages library dependencies: builds of other applications (docs/contract.md, section 6). An application may use a build as a library if
 * it is in `usableBy` of the library's package and of its newest build. A library runs with its own service accounts, so its owner decides.
 * The audit log of the library's version shows the owner every use and every refusal.
 */
@Injectable()
export class LibrariesService {
  constructor(
    private readonly database: Database,
    private readonly definitions: BuildDefinitionsService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Resolves the libraries that a package names. Not for use inside a transaction.
   * @param references those beyond the limit `libraries` are ignored here, as the check of the package rejects them
   * @param hidden ids of builds to treat as unknown
   */
  async resolve(
    appId: string,
    references: LibraryReference[],
    hidden: ReadonlySet<string>,
  ): Promise<ResolvedLibraries> {
    const named: BuildSummary[] = [];
    const libraries: DirectLibrary[] = [];
    for (const [index, reference] of references.slice(0, packageLimits.libraries).entries()) {
      const build = await this.database.read((manager) =>
        Builds.find(manager, reference.appId, reference.buildId),
      );
      if (build !== null && !hidden.has(build.buildId)) {
        const { buildId } = build;
        const own = await this.database.read((manager) => BuildContents.libraries(manager, buildId));
        named.push(build);
        libraries.push({ index, appId: build.appId, buildId, libraries: own });
      }
    }
    const direct = [];
    for (const build of named) {
      direct.push(await this.offerOf(build, appId));
    }
    return { direct, named, ...libraryTree(appId, libraries) };
  }

  /**
   * Checks that an application may use all of the given builds. Not for use inside a transaction.
   * @param user the version whose package names them
   * @param isUse false when the caller only reads: refusals are then not recorded
   * @returns ids of refused builds whose application the caller may not deliver; report them as unknown builds
   * @throws LibraryNotUsableError for the first other refused build. Each refusal is recorded, within the limit of refusals, and outside a
   * transaction because nothing changes
   */
  async require(
    principal: Principal,
    user: AppVersionKey,
    libraries: NamedLibrary[],
    { isUse }: { isUse: boolean },
  ): Promise<ReadonlySet<string>> {
    // The check of the package reports an application that names itself.
    const others = libraries.filter(({ appId }) => appId !== user.appId);
    if (others.length === 0) {
      return new Set();
    }
    const refusals = await this.database.read((manager) =>
      LibraryRights.refusals(manager, user.appId, others),
    );
    const refused = others.filter(({ buildId }) => refusals.has(buildId));
    if (isUse) {
      // One event per build, however often a package names it.
      const entries = new Map(refused.map((library) => [library.buildId, entryOf(user, library)]));
      await this.audit.recordDenied(principal, [...entries.values()]);
    }
    const first = refused.find(({ appId }) => mayFor(principal, Permission.ApplicationDelivery, appId));
    if (first !== undefined) {
      throw new LibraryNotUsableError(user.appId, first, refusals.get(first.buildId));
    }
    return new Set(refused.map(({ buildId }) => buildId));
  }

  /**
   * Records for the owners that their builds are used, in the transaction of that use.
   * @param buildId the build that uses them; null when a package does
   */
  async record(
    manager: EntityManager,
    principal: Principal,
    user: AppVersionKey,
    libraries: readonly (NamedLibrary | IndirectLibrary)[],
    buildId: string | null = null,
  ): Promise<void> {
    for (const library of libraries) {
      const entry = { ...entryOf(user, library, buildId), outcome: AuditOutcome.Ok };
      await this.audit.record(manager, principal, entry);
    }
  }

  /** Returns what a library offers. Its systems are included only if its owner lets nodes of the application use them. */
  private async offerOf({ appId, buildId }: BuildSummary, userAppId: string): Promise<LibraryBuild> {
    const processes = (await this.definitions.ofBuild(buildId)).map(({ graph }) => startsOf(graph));
    return this.database.read(async (manager) => ({
      appId,
      buildId,
      processes,
      workflows: await BuildContents.workflowIds(manager, buildId),
      systems: (await LibraryRights.lendsSystems(manager, { appId, buildId }, userAppId))
        ? await BuildContents.systems(manager, buildId)
        : [],
    }));
  }
}

/** Reduces a graph to what a call of the process needs, since graphs are large and are passed to another thread. */
function startsOf({ name, starts, nodes }: ProcessGraph): LibraryBuild['processes'][number] {
  const kept = starts.flatMap((index) => nodes[index] ?? []);
  return { name, starts: kept.map((_, index) => index), nodes: kept };
}

function entryOf(
  { appId: userAppId, appVersionId: userAppVersionId }: AppVersionKey,
  { appId, appVersionId, buildId: libraryBuildId, ...library }: NamedLibrary | IndirectLibrary,
  buildId: string | null = null,
): Omit<AuditEntry, 'outcome'> {
  const through = 'through' in library ? { through: library.through } : {};
  return {
    action: AuditAction.LibraryUse,
    appId,
    appVersionId,
    details: { libraryBuildId, userAppId, userAppVersionId, buildId, ...through },
  };
}
