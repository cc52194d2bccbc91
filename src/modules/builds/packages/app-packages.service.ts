import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { AppsService } from '../../apps/apps.service.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { LibraryReference } from '../../packages/model/package.types.js';
import type { PackageJson } from '../../packages/thread/package-task.types.js';
import { SystemsImportService } from '../../systems/delivery/systems-import.service.js';
import type { SystemsImport } from '../../systems/delivery/systems-import.types.js';
import { AppPackagesRepository } from '../storage/app-packages.repository.js';
import { PackageMovedError, PackageNotFoundError, PackageRefusedError } from '../model/builds.errors.js';
import type { DeliveredPackage, PackageEdit, PackageText, StoredPackage } from '../model/builds.types.js';
import { stamped, type DraftWorkflow } from '../model/draft-workflows.js';
import type { AppPackageEntity } from '../storage/app-package.entity.js';
import { PackageAuditService, type Delivery } from './package-audit.service.js';
import { PackageCheckService, type PackageCheck } from './package-check.service.js';
import { unpackText } from '../storage/packed-text.js';
import { secretWarnings } from './secret-warnings.js';

/** The packages of application versions (docs/contract.md, section 6). */
@Injectable()
export class AppPackagesService {
  constructor(
    private readonly database: Database,
    private readonly checks: PackageCheckService,
    private readonly apps: AppsService,
    private readonly systems: SystemsImportService,
    private readonly repository: AppPackagesRepository,
    private readonly audit: PackageAuditService,
  ) {}

  /**
   * Stores a package in a draft version, in the place of the one before: all of it or nothing. Existing parts are left alone,
   * so that an equal package changes nothing.
   * @param json of unknown origin
   * @throws PackageRefusedError naming all that is wrong with it
   * @throws UnreadableBodyError when it is no JSON object
   * @throws PackageChecksBusyError when too many packages wait for their check
   * @throws LibraryNotUsableError when the application must not use a library that it names
   * @throws VersionCommittedError
   */
  async store(principal: Principal, version: AppVersionKey, json: PackageJson): Promise<StoredPackage> {
    const delivery = deliveryOf(version, await this.checks.require(principal, version, json));
    const { changed, systems } = await this.database.write((manager) =>
      this.apply(manager, principal, delivery),
    );
    const warnings = [...delivery.remarks, ...secretWarnings(delivery.package.systems, systems)];
    return { checksum: delivery.package.checksum, changed, systems, warnings };
  }

  /**
   * Stores an edited package in the place of the one that was edited. What a delivery would check is checked; the systems of the
   * version are left alone.
   * @param edited checksum of the package that was edited
   * @param event what the audit log is told
   * @throws PackageRefusedError naming all that is wrong with it
   * @throws LibraryNotUsableError when the application must not use a library that it names
   * @throws VersionCommittedError
   * @throws PackageMovedError when another one was stored meanwhile
   */
  async replace(
    principal: Principal,
    version: AppVersionKey,
    { document, edited, event }: PackageEdit,
  ): Promise<void> {
    const json = JSON.stringify(document);
    const delivery = deliveryOf(version, await this.checks.require(principal, version, json));
    await this.database.write(async (manager) => {
      await this.apps.openForReplacing(manager, version);
      if ((await this.repository.checksum(manager, version)) !== edited) {
        throw new PackageMovedError();
      }
      await this.insert(manager, principal, delivery);
      await this.audit.edited(manager, principal, version, event);
    });
  }

  /**
   * The package of a version as JSON text, as it was delivered.
   * @throws PackageNotFoundError
   */
  async get(version: AppVersionKey): Promise<string> {
    const stored = await this.text(version);
    if (stored === null) {
      throw new PackageNotFoundError();
    }
    return stored.json;
  }

  /** As `get`, with its checksum; null when there is none. */
  async text(version: AppVersionKey): Promise<PackageText | null> {
    const row = await this.row(version);
    return row && { json: await unpackText(row.document), checksum: row.checksum };
  }

  /** As `text`, read, with its workflows. */
  async find(version: AppVersionKey): Promise<DeliveredPackage | null> {
    const row = await this.row(version);
    if (row === null) {
      return null;
    }
    const json = await unpackText(row.document);
    const document = JSON.parse(json) as Record<string, unknown>;
    const workflows = await draftsOf(row);
    return { document, json, checksum: row.checksum, workflows };
  }

  /** The workflows of a version as they were checked; none without a package. Not inside of a transaction. */
  async workflows(version: AppVersionKey): Promise<DraftWorkflow[]> {
    const drafts = await this.database.read((manager) => this.repository.workflows(manager, version));
    if (drafts !== null) {
      return drafts;
    }
    const row = await this.row(version);
    if (row === null) {
      return [];
    }
    const checked = await this.checks.check(version, await unpackText(row.document));
    return stamped(checked.package?.workflows ?? [], [], { at: row.storedAt, by: row.storedBy });
  }

  /** The builds of other applications that the package of a version names; none without a package. */
  async libraries(version: AppVersionKey): Promise<LibraryReference[]> {
    const stored = await this.find(version);
    // Its shape was checked when it was stored.
    const application = stored?.document['application'] as { libraries?: LibraryReference[] } | undefined;
    return application?.libraries ?? [];
  }

  private row(version: AppVersionKey): Promise<AppPackageEntity | null> {
    return this.database.read((manager) => this.repository.find(manager, version));
  }

  private async insert(
    manager: EntityManager,
    principal: Principal,
    { version, package: { checksum, packed, workflows } }: Delivery,
  ): Promise<void> {
    await this.repository.store(manager, {
      ...version,
      checksum,
      packed,
      workflows,
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
      package: { checksum },
    } = delivery;
    await this.apps.openForReplacing(manager, version);
    const isOther = (await this.repository.checksum(manager, version)) !== checksum;
    if (isOther) {
      await this.insert(manager, principal, delivery);
    }
    const relinked = await this.apps.replaceLibraries(manager, version, libraries.named);
    if (isOther || relinked) {
      await this.audit.librariesUsed(manager, principal, delivery);
    }
    const systems = await this.systems.import(manager, principal, version, delivery.package.systems);
    const { added, removed } = systems;
    const changed = isOther || relinked || [added, systems.changed, removed].some(({ length }) => length > 0);
    if (changed) {
      await this.audit.stored(manager, principal, delivery, systems);
    }
    return { changed, systems };
  }
}

/** @throws PackageRefusedError */
function deliveryOf(version: AppVersionKey, { package: pkg, libraries, problems }: PackageCheck): Delivery {
  if (pkg === null || libraries === null) {
    throw new PackageRefusedError(problems);
  }
  return { version, package: pkg, libraries, remarks: problems };
}

/** None where an earlier release stored the package. */
async function draftsOf({ workflows }: AppPackageEntity): Promise<DraftWorkflow[]> {
  return workflows === null ? [] : (JSON.parse(await unpackText(workflows)) as DraftWorkflow[]);
}
