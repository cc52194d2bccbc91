import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import { AppsService } from '../../../apps/apps.service.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import type { LibraryReference } from '../../packages/model/package.types.js';
import type { PackageJson } from '../../packages/thread/package-task.types.js';
import { SystemsImportService } from '../../../systems/delivery/systems-import.service.js';
import type { SystemsImport } from '../../../systems/delivery/systems-import.types.js';
import { LibrariesService } from '../libraries/libraries.service.js';
import { PackageMovedError, PackageNotFoundError } from '../model/builds.errors.js';
import type { PackageEdit } from '../model/builds.types.js';
import type { StoredPackageResponseDto } from '../model/package.dto.js';
import { AppPackages } from '../storage/app-packages.repository.js';
import { PackageCheckService, type Delivery } from './package-check.service.js';
import { secretWarnings } from './secret-warnings.js';
import { namesOf, storedPackage, retryIfMoved } from './stored-packages.js';

/** Maximum number of names of each kind in an audit event. */
const AUDITED_NAMES = 50;

/** Stores and reads the packages of application versions (docs/contract.md, section 6). */
@Injectable()
export class AppPackagesService {
  constructor(
    private readonly database: Database,
    private readonly checks: PackageCheckService,
    private readonly apps: AppsService,
    private readonly systems: SystemsImportService,
    private readonly libraryUses: LibrariesService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Replaces the package of a draft version, completely or not at all. Parts that did not change are left alone, so storing an equal
   * package changes nothing.
   * @param json untrusted
   * @throws PackageRefusedError listing all problems
   * @throws UnreadableBodyError when it is not a JSON object
   * @throws PackageChecksBusyError when too many packages are waiting to be checked
   * @throws LibraryNotUsableError when the application must not use a library that it names
   * @throws VersionCommittedError
   * @throws PackageMovedError when others keep storing packages
   */
  async store(
    principal: Principal,
    version: AppVersionKey,
    json: PackageJson,
  ): Promise<StoredPackageResponseDto> {
    return retryIfMoved(async () => {
      const delivery = await this.checks.delivery(principal, version, json);
      const { changed, systems } = await this.database.write((manager) =>
        this.apply(manager, principal, delivery),
      );
      const { added, changed: changedSystems, removed } = systems;
      return {
        checksum: delivery.package.checksum,
        changed,
        systems: { added, changed: changedSystems, removed },
        warnings: [...delivery.remarks, ...secretWarnings(delivery.package.systems, systems)],
      };
    });
  }

  /**
   * Replaces a package with an edited version of it, after the checks of a delivery. The systems of the version do not change.
   * @throws SequenceNotFoundError
   * @throws PackageRefusedError listing all problems
   * @throws LibraryNotUsableError when the application must not use a library that it names
   * @throws VersionCommittedError
   * @throws PackageMovedError when another package was stored in the meantime
   */
  async replace(
    principal: Principal,
    version: AppVersionKey,
    { edit, edited, event }: PackageEdit,
  ): Promise<void> {
    const row = await this.database.read((manager) => AppPackages.document(manager, version));
    if (row?.checksum !== edited) {
      throw new PackageMovedError();
    }
    const delivery = await this.checks.delivery(principal, version, { packed: row.document, edit });
    await this.database.write(async (manager) => {
      await this.apps.openForReplacing(manager, version);
      if ((await AppPackages.state(manager, version))?.checksum !== edited) {
        throw new PackageMovedError();
      }
      await this.insert(manager, principal, delivery);
      await this.audit.record(manager, principal, { ...event, ...version, outcome: AuditOutcome.Ok });
    });
  }

  /**
   * Returns the package of a version as JSON in UTF-8, as it was delivered.
   * @throws PackageNotFoundError
   */
  async get(version: AppVersionKey): Promise<Buffer> {
    const stored = await storedPackage(this.database, version);
    if (stored === null) {
      throw new PackageNotFoundError();
    }
    return stored.json;
  }

  /** Returns the checksum of the package of a version, or null when there is none. */
  async checksum(version: AppVersionKey): Promise<string | null> {
    const state = await this.database.read((manager) => AppPackages.state(manager, version));
    return state?.checksum ?? null;
  }

  /** Returns the builds of other applications that the package of a version names; empty without a package. */
  async libraries(version: AppVersionKey): Promise<LibraryReference[]> {
    const stored = await storedPackage(this.database, version);
    return stored === null ? [] : (await namesOf(stored.json)).libraries;
  }

  /** @throws PackageMovedError when another package was stored after the nodes were compared with the previous one */
  private async insert(
    manager: EntityManager,
    principal: Principal,
    { version, package: { checksum, packed, drafts }, at, before }: Delivery,
  ): Promise<void> {
    const { appId, appVersionId } = version;
    const state = await AppPackages.state(manager, version);
    if (state?.checksum !== before?.checksum || state?.storedAt.getTime() !== before?.storedAt.getTime()) {
      throw new PackageMovedError();
    }
    await AppPackages.store(manager, {
      appId,
      appVersionId,
      checksum,
      document: packed,
      workflows: drafts,
      storedAt: at,
      storedBy: principal.user,
    });
  }

  private async apply(
    manager: EntityManager,
    principal: Principal,
    delivery: Delivery,
  ): Promise<{ changed: boolean; systems: SystemsImport }> {
    const {
      version,
      libraries,
      package: { checksum, processCount, workflowCount },
    } = delivery;
    await this.apps.openForReplacing(manager, version);
    const isOther = (await AppPackages.state(manager, version))?.checksum !== checksum;
    if (isOther) {
      await this.insert(manager, principal, delivery);
    }
    const relinked = await this.apps.replaceLibraries(manager, version, libraries.named);
    if (isOther || relinked) {
      await this.libraryUses.record(manager, principal, version, libraries.named);
    }
    const systems = await this.systems.import(manager, principal, version, delivery.package.systems);
    const { added, changed, removed, secretsDropped } = systems;
    const isChanged = isOther || relinked || [added, changed, removed].some(({ length }) => length > 0);
    if (isChanged) {
      await this.audit.record(manager, principal, {
        action: AuditAction.PackageStore,
        outcome: AuditOutcome.Ok,
        ...version,
        details: {
          checksum,
          processes: processCount,
          workflows: workflowCount,
          systemsAdded: auditedNames(added),
          systemsChanged: auditedNames(changed),
          systemsRemoved: auditedNames(removed),
          secretsDropped: auditedNames(secretsDropped),
        },
      });
    }
    return { changed: isChanged, systems };
  }
}

function auditedNames(names: string[]): string[] {
  return names.slice(0, AUDITED_NAMES);
}
