import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { canonicalJson } from '../../../common/canonical-json.js';
import { Database } from '../../../database/database.js';
import { AppsService } from '../../apps/apps.service.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { LibraryReference } from '../../packages/model/package.types.js';
import { SystemsImportService } from '../../systems/delivery/systems-import.service.js';
import type { SystemsImport } from '../../systems/delivery/systems-import.types.js';
import { AppPackagesRepository } from '../storage/app-packages.repository.js';
import { PackageMovedError, PackageNotFoundError, PackageRefusedError } from '../model/builds.errors.js';
import type { DeliveredPackage, PackageEdit, StoredPackage } from '../model/builds.types.js';
import { stamped, type DraftWorkflow } from '../model/draft-workflows.js';
import type { AppPackageEntity } from '../storage/app-package.entity.js';
import { PackageAuditService, type Delivery } from './package-audit.service.js';
import { PackageCheckService, type PackageCheck } from './package-check.service.js';
import { packText, unpackText } from '../storage/packed-text.js';
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
   * Stores a package in a draft version, in the place of the one before: all of it or nothing. What is there already is
   * left alone, so that the same package again changes nothing.
   * @param document JSON of unknown origin
   * @throws PackageRefusedError naming all that is wrong with it
   * @throws LibraryNotUsableError when the application may not use a library that it names
   * @throws VersionCommittedError
   */
  async store(principal: Principal, version: AppVersionKey, document: unknown): Promise<StoredPackage> {
    const delivery = await deliveryOf(
      version,
      await this.checks.require(principal, version, document),
      document,
    );
    const { changed, systems } = await this.database.write((manager) =>
      this.apply(manager, principal, delivery),
    );
    const warnings = [...delivery.remarks, ...secretWarnings(delivery.package.systems, systems)];
    return { checksum: delivery.checksum, changed, systems, warnings };
  }

  /**
   * Stores an edited package in the place of the one that was edited. What a delivery would check is checked; the systems of the
   * version are left alone.
   * @param edited checksum of the package that was edited
   * @param event what the audit log is told
   * @throws PackageRefusedError naming all that is wrong with it
   * @throws LibraryNotUsableError when the application may not use a library that it names
   * @throws VersionCommittedError
   * @throws PackageMovedError when another one was stored meanwhile
   */
  async replace(
    principal: Principal,
    version: AppVersionKey,
    { document, edited, event }: PackageEdit,
  ): Promise<void> {
    const delivery = await deliveryOf(
      version,
      await this.checks.require(principal, version, document),
      document,
    );
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
   * The package of a version, as it was delivered.
   * @throws PackageNotFoundError
   */
  async get(version: AppVersionKey): Promise<Record<string, unknown>> {
    const stored = await this.find(version);
    if (stored === null) {
      throw new PackageNotFoundError();
    }
    return stored.document;
  }

  /** As `get`, with its checksum; null when there is none. */
  async find(version: AppVersionKey): Promise<DeliveredPackage | null> {
    const row = await this.database.read((manager) => this.repository.find(manager, version));
    if (row === null) {
      return null;
    }
    const document = JSON.parse(await unpackText(row.document)) as Record<string, unknown>;
    const workflows = await draftsOf(row);
    return { document, checksum: row.checksum, workflows };
  }

  /** The workflows of a version as they were checked; none without a package. Not inside of a transaction. */
  async workflows(version: AppVersionKey): Promise<DraftWorkflow[]> {
    const drafts = await this.database.read((manager) => this.repository.workflows(manager, version));
    if (drafts !== null) {
      return drafts;
    }
    const row = await this.database.read((manager) => this.repository.find(manager, version));
    if (row === null) {
      return [];
    }
    const checked = await this.checks.check(version, JSON.parse(await unpackText(row.document)));
    return stamped(checked.package?.workflows ?? [], [], { at: row.storedAt, by: row.storedBy });
  }

  /** The builds of other applications that the package of a version names; none without a package. */
  async libraries(version: AppVersionKey): Promise<LibraryReference[]> {
    const stored = await this.find(version);
    // Its shape was checked when it was stored.
    const application = stored?.document['application'] as { libraries?: LibraryReference[] } | undefined;
    return application?.libraries ?? [];
  }

  private async insert(
    manager: EntityManager,
    principal: Principal,
    { version, checksum, packed, package: { workflows } }: Delivery,
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
    const { version, checksum, libraries } = delivery;
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
async function deliveryOf(
  version: AppVersionKey,
  { package: pkg, libraries, problems }: PackageCheck,
  document: unknown,
): Promise<Delivery> {
  if (pkg === null || libraries === null) {
    throw new PackageRefusedError(problems);
  }
  const checksum = createHash('sha256').update(canonicalJson(document)).digest('hex');
  const packed = await packText(JSON.stringify(document));
  return { version, package: pkg, libraries, checksum, packed, remarks: problems };
}

/** None where an earlier release stored the package. */
async function draftsOf({ workflows }: AppPackageEntity): Promise<DraftWorkflow[]> {
  return workflows === null ? [] : (JSON.parse(await unpackText(workflows)) as DraftWorkflow[]);
}
