import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../common/auth/principal.js';
import { canonicalJson } from '../../common/canonical-json.js';
import { Database } from '../../database/database.js';
import { AppsService } from '../apps/apps.service.js';
import type { AppVersionKey } from '../apps/apps.types.js';
import { AuditService } from '../audit/audit.service.js';
import { AuditAction, AuditOutcome } from '../audit/audit.types.js';
import type { CheckedPackage } from '../packages/package.types.js';
import { SystemsImportService } from '../systems/systems-import.service.js';
import type { SystemsImport } from '../systems/systems-import.types.js';
import { AppPackagesRepository } from './app-packages.repository.js';
import { PackageNotFoundError, PackageRefusedError } from './builds.errors.js';
import type { DeliveredPackage, StoredPackage } from './builds.types.js';
import type { ResolvedLibraries } from './libraries.service.js';
import { PackageCheckService } from './package-check.service.js';
import { packText, unpackText } from './packed-text.js';
import { secretWarnings } from './secret-warnings.js';

/** Names of each kind that an audit event tells. */
const AUDITED_NAMES = 50;

/** A package on its way into a version. */
interface Delivery {
  version: AppVersionKey;
  package: CheckedPackage;
  libraries: ResolvedLibraries;
  checksum: string;
  /** The document's JSON, packed. */
  packed: string;
}

/** The packages of application versions (decisions, section 4). */
@Injectable()
export class AppPackagesService {
  constructor(
    private readonly database: Database,
    private readonly checks: PackageCheckService,
    private readonly apps: AppsService,
    private readonly systems: SystemsImportService,
    private readonly repository: AppPackagesRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Stores a package in a draft version, in the place of the one before: all of it or nothing. What is there already is
   * left alone, so that the same package again changes nothing.
   * @param document JSON of unknown origin
   * @throws PackageRefusedError naming all that is wrong with it
   * @throws VersionCommittedError
   */
  async store(principal: Principal, version: AppVersionKey, document: unknown): Promise<StoredPackage> {
    const checked = await this.checks.check(version.appId, document);
    if (checked.package === null || checked.libraries === null) {
      throw new PackageRefusedError(checked.problems);
    }
    const delivery: Delivery = {
      version,
      package: checked.package,
      libraries: checked.libraries,
      checksum: createHash('sha256').update(canonicalJson(document)).digest('hex'),
      packed: await packText(JSON.stringify(document)),
    };
    const { changed, systems } = await this.database.write((manager) =>
      this.apply(manager, principal, delivery),
    );
    const warnings = [...checked.problems, ...secretWarnings(checked.package.systems, systems)];
    return { checksum: delivery.checksum, changed, systems, warnings };
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
    return this.database.read((manager) => this.read(manager, version));
  }

  /** As `find`, inside of a transaction. */
  async read(manager: EntityManager, version: AppVersionKey): Promise<DeliveredPackage | null> {
    const row = await this.repository.find(manager, version);
    if (row === null) {
      return null;
    }
    const document = JSON.parse(await unpackText(row.document)) as Record<string, unknown>;
    return { document, checksum: row.checksum };
  }

  private async apply(
    manager: EntityManager,
    principal: Principal,
    delivery: Delivery,
  ): Promise<{ changed: boolean; systems: SystemsImport }> {
    const { version, checksum, libraries, packed } = delivery;
    await this.apps.openForReplacing(manager, version);
    const isOther = (await this.repository.checksum(manager, version)) !== checksum;
    if (isOther) {
      const { appId, appVersionId } = version;
      const row = { appId, appVersionId, checksum, document: packed, storedBy: principal.user };
      await this.repository.store(manager, row);
    }
    const relinked = await this.apps.replaceLibraries(manager, version, libraries.versions);
    const systems = await this.systems.import(manager, principal, version, delivery.package.systems);
    const { added, removed } = systems;
    const changed = isOther || relinked || [added, systems.changed, removed].some(({ length }) => length > 0);
    if (changed) {
      await this.record(manager, principal, delivery, systems);
    }
    return { changed, systems };
  }

  private async record(
    manager: EntityManager,
    principal: Principal,
    { version, checksum, package: { processes, workflows } }: Delivery,
    { added, changed, removed, secretsDropped }: SystemsImport,
  ): Promise<void> {
    await this.audit.record(manager, principal, {
      action: AuditAction.PackageStore,
      outcome: AuditOutcome.Ok,
      appId: version.appId,
      appVersionId: version.appVersionId,
      details: {
        checksum,
        processes: processes.reduce((sum, { graphs }) => sum + graphs.length, 0),
        workflows: workflows.length,
        systemsAdded: told(added),
        systemsChanged: told(changed),
        systemsRemoved: told(removed),
        secretsDropped: told(secretsDropped),
      },
    });
  }
}

function told(names: string[]): string[] {
  return names.slice(0, AUDITED_NAMES);
}
