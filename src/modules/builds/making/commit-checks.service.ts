import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { inTurns } from '../../../common/turns.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { SystemsImportService } from '../../systems/delivery/systems-import.service.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import { namesOf } from '../packages/package-names.js';
import {
  PackageMovedError,
  PackageOutdatedError,
  PackageSystemsMissingError,
} from '../model/builds.errors.js';
import type { PackageText } from '../model/builds.types.js';
import { agentsOf } from '../model/workflow-text.js';
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
    const stored = await this.stored.text(version);
    if (stored === null) {
      return { checksum: null, systems: [] };
    }
    const systems = await this.systemsOf(version, stored);
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
    if (((await this.rows.state(manager, version))?.checksum ?? null) !== checked.checksum) {
      throw new PackageMovedError();
    }
    await this.requireSystems(manager, version, checked.systems);
  }

  /** What is of a package that was stored meanwhile is found out by its checksum. */
  private async systemsOf(version: AppVersionKey, { json }: PackageText): Promise<string[]> {
    const named = (await namesOf(json)).systems;
    const workflows = await inTurns(agentsOf(await this.stored.workflows(version)));
    const used = workflows
      .flatMap(({ nodes }) => nodes.flatMap(({ aiOptions }) => aiOptions?.mcpServers ?? []))
      .filter(({ appId }) => appId === version.appId);
    return [...new Set([...named, ...used.map(({ resourceName }) => resourceName ?? '')])];
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
