import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { requireMatch, type IfMatch } from '../../../platform/http/conditional-requests.js';
import { runYielding } from '#engine/support';
import type { Principal } from '../../../platform/user/principal.js';
import { nameKey } from '../../../platform/validation/resource-name.js';
import { Database } from '../../../store/database.js';
import { AppsService } from '../../../apps/apps.service.js';
import { AppVersionState, type AppVersionKey } from '../../../apps/apps.types.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import type { PackageProblem } from '../../packages/model/package.types.js';
import { SystemsImportService } from '../../../systems/delivery/systems-import.service.js';
import {
  PackageMovedError,
  PackageNotFoundError,
  PackageOutdatedError,
  PackageSystemsMissingError,
} from '../model/builds.errors.js';
import type { PackageText } from '../model/builds.types.js';
import { agentsOf } from '../model/workflow-text.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import { namesOf, storedPackage, storedWorkflows, retryIfMoved } from '../packages/stored-packages.js';
import { AppPackages } from '../storage/app-packages.repository.js';
import { BuildWarningsService } from './build-warnings.service.js';
import type { CommittedVersionResponseDto } from './commit.dto.js';

interface CommitOrder {
  message: string | null;
  condition: IfMatch | undefined;
}

/** State of a version when it was checked. */
interface CheckedVersion {
  /** Checksum of its package; null without one. */
  readonly checksum: string | null;
  /** Names of the systems that its package names or its agents use. */
  readonly systems: readonly string[];
}

/** Commits application versions (docs/contract.md, section 6), and reports their problems beforehand. */
@Injectable()
export class VersionCommitsService {
  constructor(
    private readonly database: Database,
    private readonly apps: AppsService,
    private readonly checks: PackageCheckService,
    private readonly systems: SystemsImportService,
    private readonly audit: AuditService,
    private readonly warnings: BuildWarningsService,
  ) {}

  /**
   * Checks the package of a version as a commit would, and warns as a build would, without changing anything. Libraries, systems and agents
   * may have changed since it was stored.
   * @throws PackageNotFoundError
   * @throws LibraryNotUsableError when the application must not use a library that the package names
   * @throws PackageChecksBusyError when too many packages are waiting to be checked
   */
  async problems(principal: Principal, version: AppVersionKey): Promise<PackageProblem[]> {
    const stored = await storedPackage(this.database, version);
    if (stored === null) {
      throw new PackageNotFoundError();
    }
    const { problems } = await this.checks.require(principal, version, stored.json, { isOnlyRead: true });
    return [...problems, ...(await this.warnings.of({ ...version, buildId: null }))];
  }

  /**
   * Makes a version permanently read-only.
   * @param message reason for the audit log, or null
   * @param condition entity tags of packages (their quoted checksums), one of which must be stored
   * @throws VersionNotFoundError when nothing is stored for it
   * @throws VersionCommittedError when it is committed already
   * @throws PackageSystemsMissingError when a system of its package was deleted
   * @throws PackageOutdatedError, LibraryNotUsableError when no build of it can be made
   * @throws PackageMovedError when others keep storing packages
   * @throws ChangedMeanwhileError when another package is stored
   */
  async commit(
    principal: Principal,
    version: AppVersionKey,
    message: string | null,
    condition?: IfMatch,
  ): Promise<CommittedVersionResponseDto> {
    await this.database.read((manager) => this.apps.requireDraft(manager, version));
    // If another package is stored after the check, check that one.
    const committedAt = await retryIfMoved(async () => {
      const checked = await this.requireBuildable(principal, version);
      return this.database.write((manager) =>
        this.store(manager, principal, version, { ...checked, message, condition }),
      );
    });
    return {
      ...version,
      status: AppVersionState.Committed,
      committedDate: committedAt.toISOString(),
      warnings: await this.warnings.of({ ...version, buildId: null }),
    };
  }

  /** Checks that builds of the version can be made, since a commit cannot be undone. Not for use inside a transaction. */
  private async requireBuildable(principal: Principal, version: AppVersionKey): Promise<CheckedVersion> {
    const stored = await storedPackage(this.database, version);
    if (stored === null) {
      return { checksum: null, systems: [] };
    }
    const systems = await this.systemsOf(version, stored);
    await this.database.read((manager) => this.requireSystems(manager, version, systems));
    const { package: checked, problems } = await this.checks.require(principal, version, stored.json);
    if (checked === null) {
      throw new PackageOutdatedError(problems, 'fix the problems and deliver it again');
    }
    return { checksum: stored.checksum, systems };
  }

  /**
   * Returns the names of all systems that a package needs. If another package is stored in the meantime, its checksum reveals that later.
   */
  private async systemsOf(version: AppVersionKey, { json }: PackageText): Promise<string[]> {
    const named = (await namesOf(json)).systems;
    const workflows = await runYielding(agentsOf(await storedWorkflows(this.database, version)));
    const used = workflows
      .flatMap(({ nodes }) => nodes.flatMap(({ aiOptions }) => aiOptions?.mcpServers ?? []))
      .filter(({ appId }) => appId === version.appId);
    return [...new Set([...named, ...used.map(({ resourceName }) => resourceName ?? '')])];
  }

  /**
   * Checks that no system of the package or its workflows was deleted through the API, because a committed version cannot be fixed.
   * @throws PackageSystemsMissingError
   */
  private async requireSystems(
    manager: EntityManager,
    version: AppVersionKey,
    names: readonly string[],
  ): Promise<void> {
    const present = names.length === 0 ? new Map() : await this.systems.idsByName(manager, version);
    const missing = names.filter((name) => !present.has(nameKey(name)));
    if (missing.length > 0) {
      throw new PackageSystemsMissingError(missing);
    }
  }

  /** Commits a version if it has not changed since it was checked, and returns the time of the commit. */
  private async store(
    manager: EntityManager,
    principal: Principal,
    version: AppVersionKey,
    { checksum, systems, message, condition }: CommitOrder & CheckedVersion,
  ): Promise<Date> {
    await this.apps.openForCommit(manager, version);
    if (((await AppPackages.state(manager, version))?.checksum ?? null) !== checksum) {
      throw new PackageMovedError();
    }
    await this.requireSystems(manager, version, systems);
    requireMatch(condition, checksum === null ? null : `"${checksum}"`);
    const committedAt = await this.apps.commit(manager, version);
    await this.audit.record(manager, principal, {
      action: AuditAction.VersionCommit,
      outcome: AuditOutcome.Ok,
      ...version,
      details: { message },
    });
    return committedAt;
  }
}
