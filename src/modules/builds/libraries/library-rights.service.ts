import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Permission } from '../../../common/auth/permission.js';
import { mayFor } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditService, type AuditEntry } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { LibraryNotUsableError, type LibraryRefusal } from '../model/builds.errors.js';
import type { IndirectLibrary, NamedLibrary } from '../model/builds.types.js';
import { LibraryRightsRepository } from '../storage/library-rights.repository.js';

/**
 * Which applications may use a build as a library: those in `usableBy` of its package and of the newest build of the library. A library runs with its own service accounts, so its owner decides. The audit log
 * of the library's version shows the owner every use and every refusal.
 */
@Injectable()
export class LibraryRightsService {
  constructor(
    private readonly database: Database,
    private readonly repository: LibraryRightsRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Makes sure that an application may use all of these builds. Not inside of a transaction.
   * @param user the version whose package names them
   * @param isUse false for who only reads what is there: a refusal is told then, and not recorded
   * @returns ids of builds that it must not use, of libraries that the caller may not deliver: to be told as builds that are not there
   * @throws LibraryNotUsableError naming the first of the others that it must not use. Each is recorded, as far as the limit of refusals goes.
   * A refusal changes nothing, so its event cannot be part of the transaction of a change
   */
  async require(
    principal: Principal,
    user: AppVersionKey,
    libraries: NamedLibrary[],
    { isUse }: { isUse: boolean },
  ): Promise<ReadonlySet<string>> {
    const refused = await this.refused(user.appId, libraries);
    if (isUse) {
      await this.audit.recordDenied(
        principal,
        // One for each build, however often a package names it.
        [...new Map(refused.map((library) => [library.buildId, entryOf(user, library)])).values()],
      );
    }
    const isKnown = ({ appId }: NamedLibrary): boolean =>
      mayFor(principal, Permission.ApplicationDelivery, appId);
    const first = refused.find(isKnown);
    if (first !== undefined) {
      throw new LibraryNotUsableError(user.appId, first, first.refusal);
    }
    return new Set(refused.map(({ buildId }) => buildId));
  }

  /**
   * Tells the owners of these builds that they are used, in the transaction that does it.
   * @param buildId the build that uses them; null for a package
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

  private async refused(appId: string, libraries: NamedLibrary[]): Promise<RefusedLibrary[]> {
    // That an application names itself is told by the check of the package.
    const others = libraries.filter((library) => library.appId !== appId);
    if (others.length === 0) {
      return [];
    }
    const refusals = await this.database.read((manager) => this.repository.refusals(manager, appId, others));
    return others.flatMap((library) => {
      const refusal = refusals.get(library.buildId);
      return refusal === undefined ? [] : [{ ...library, refusal }];
    });
  }
}

/** A library that must not be used, and why. */
type RefusedLibrary = NamedLibrary & { refusal: LibraryRefusal };

function entryOf(
  user: AppVersionKey,
  library: NamedLibrary | IndirectLibrary,
  buildId: string | null = null,
): Omit<AuditEntry, 'outcome'> {
  const { appId: userAppId, appVersionId: userAppVersionId } = user;
  const { appId, appVersionId, buildId: libraryBuildId } = library;
  const through = 'through' in library ? { through: library.through } : {};
  return {
    action: AuditAction.LibraryUse,
    appId,
    appVersionId,
    details: { libraryBuildId, userAppId, userAppVersionId, buildId, ...through },
  };
}
