import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { PackagesService } from '../../packages/packages.service.js';
import { SystemsImportService } from '../../systems/delivery/systems-import.service.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import {
  PackageMovedError,
  PackageOutdatedError,
  PackageSystemsMissingError,
} from '../model/builds.errors.js';
import type { DeliveredPackage } from '../model/builds.types.js';
import { agentNodes } from '../model/draft-workflows.js';
import { PackageCheckService } from '../packages/package-check.service.js';

/** What must hold of a version before it is committed. */
@Injectable()
export class CommitChecksService {
  constructor(
    private readonly stored: AppPackagesService,
    private readonly packages: PackagesService,
    private readonly systems: SystemsImportService,
    private readonly checks: PackageCheckService,
    private readonly database: Database,
  ) {}

  /**
   * What would make every build of the version fail: a commit cannot be taken back. Not inside of a transaction.
   * @returns checksum of the package that was checked; null without one
   * @throws PackageSystemsMissingError, PackageOutdatedError, LibraryNotUsableError
   */
  async requireBuildable(principal: Principal, version: AppVersionKey): Promise<string | null> {
    const stored = await this.stored.find(version);
    if (stored === null) {
      return null;
    }
    await this.database.read((manager) => this.requireSystems(manager, version, stored));
    const { package: checked, problems } = await this.checks.require(principal, version, stored.document);
    if (checked === null) {
      throw new PackageOutdatedError(problems, 'deliver it again, mended');
    }
    return stored.checksum;
  }

  /**
   * Makes sure that the version is still as it was checked. In the transaction that commits it.
   * @param checksum what `requireBuildable` returned
   * @throws PackageMovedError when another package was stored meanwhile, PackageSystemsMissingError
   */
  async requireUnchanged(
    manager: EntityManager,
    version: AppVersionKey,
    checksum: string | null,
  ): Promise<void> {
    const stored = await this.stored.read(manager, version);
    if ((stored?.checksum ?? null) !== checksum) {
      throw new PackageMovedError();
    }
    if (stored !== null) {
      await this.requireSystems(manager, version, stored);
    }
  }

  /**
   * A system of the package, or one that its workflows use, can have been deleted by the interface; a committed version could
   * never be mended.
   * @throws PackageSystemsMissingError
   */
  private async requireSystems(
    manager: EntityManager,
    version: AppVersionKey,
    { document, workflows }: DeliveredPackage,
  ): Promise<void> {
    const named = this.packages.parse(document).package?.systems ?? [];
    const used = agentNodes(workflows).flatMap(({ node }) => node.aiOptions?.mcpServers ?? []);
    const names = new Set([
      ...named.map(({ resourceName }) => resourceName),
      ...used.filter(({ appId }) => appId === version.appId).map(({ resourceName }) => resourceName ?? ''),
    ]);
    if (names.size === 0) {
      return;
    }
    const present = await this.systems.idsByName(manager, version);
    const missing = [...names].filter((name) => !present.has(nameKey(name)));
    if (missing.length > 0) {
      throw new PackageSystemsMissingError(missing);
    }
  }
}
