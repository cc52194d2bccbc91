import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
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
import { AppPackagesRepository } from '../storage/app-packages.repository.js';

/** What a version was checked with. */
export interface CheckedVersion {
  /** Of its package; null without one. */
  readonly checksum: string | null;
  /** Names of the systems that the package names, or an agent of it uses. */
  readonly systems: readonly string[];
}

/** What must hold of a version before it is committed. */
@Injectable()
export class CommitChecksService {
  constructor(
    private readonly stored: AppPackagesService,
    private readonly rows: AppPackagesRepository,
    private readonly systems: SystemsImportService,
    private readonly checks: PackageCheckService,
    private readonly database: Database,
  ) {}

  /**
   * What would make every build of the version fail: a commit cannot be taken back. Not inside of a transaction.
   * @throws PackageSystemsMissingError, PackageOutdatedError, LibraryNotUsableError
   */
  async requireBuildable(principal: Principal, version: AppVersionKey): Promise<CheckedVersion> {
    const stored = await this.stored.find(version);
    if (stored === null) {
      return { checksum: null, systems: [] };
    }
    const systems = systemsOf(version, stored);
    await this.database.read((manager) => this.requireSystems(manager, version, systems));
    const { package: checked, problems } = await this.checks.require(principal, version, stored.json);
    if (checked === null) {
      throw new PackageOutdatedError(problems, 'deliver it again, mended');
    }
    return { checksum: stored.checksum, systems };
  }

  /**
   * Makes sure that the version is still as it was checked. In the transaction that commits it.
   * @param checked what `requireBuildable` returned
   * @throws PackageMovedError when another package was stored meanwhile, PackageSystemsMissingError
   */
  async requireUnchanged(
    manager: EntityManager,
    version: AppVersionKey,
    checked: CheckedVersion,
  ): Promise<void> {
    if ((await this.rows.checksum(manager, version)) !== checked.checksum) {
      throw new PackageMovedError();
    }
    await this.requireSystems(manager, version, checked.systems);
  }

  /**
   * A system of the package, or one that its workflows use, can have been deleted by the interface; a committed version could
   * never be mended.
   * @throws PackageSystemsMissingError
   */
  private async requireSystems(
    manager: EntityManager,
    version: AppVersionKey,
    names: readonly string[],
  ): Promise<void> {
    if (names.length === 0) {
      return;
    }
    const present = await this.systems.idsByName(manager, version);
    const missing = names.filter((name) => !present.has(nameKey(name)));
    if (missing.length > 0) {
      throw new PackageSystemsMissingError(missing);
    }
  }
}

/** Its shape was checked when it was stored. */
function systemsOf({ appId }: AppVersionKey, { document, workflows }: DeliveredPackage): string[] {
  const named = (document['systems'] ?? []) as { resourceName: string }[];
  const used = agentNodes(workflows).flatMap(({ node }) => node.aiOptions?.mcpServers ?? []);
  const names = new Set([
    ...named.map(({ resourceName }) => resourceName),
    ...used.filter((server) => server.appId === appId).map(({ resourceName }) => resourceName ?? ''),
  ]);
  return [...names];
}
