import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../common/auth/principal.js';
import { nameKey } from '../../common/validation/resource-name.js';
import { Database } from '../../database/database.js';
import { AppsService } from '../apps/apps.service.js';
import { AppVersionState, type AppVersionKey, type AppVersionStatus } from '../apps/apps.types.js';
import { AuditService } from '../audit/audit.service.js';
import { AuditAction, AuditOutcome } from '../audit/audit.types.js';
import { PackagesService } from '../packages/packages.service.js';
import { SystemsImportService } from '../systems/systems-import.service.js';
import { AppPackagesService } from './app-packages.service.js';
import { PackageSystemsMissingError } from './builds.errors.js';
import { agentNodes } from './draft-workflows.js';

/** Commits application versions (decisions, section 4). */
@Injectable()
export class VersionCommitsService {
  constructor(
    private readonly database: Database,
    private readonly apps: AppsService,
    private readonly stored: AppPackagesService,
    private readonly packages: PackagesService,
    private readonly systems: SystemsImportService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Makes a version read-only for ever.
   * @param message why, for the audit log; null for none
   * @throws VersionNotFoundError when nothing is stored for it
   * @throws VersionCommittedError when that was done before
   * @throws PackageSystemsMissingError when its package and its systems contradict each other
   */
  async commit(
    principal: Principal,
    version: AppVersionKey,
    message: string | null,
  ): Promise<AppVersionStatus> {
    return this.database.write(async (manager) => {
      await this.apps.openForCommit(manager, version);
      await this.requireSystems(manager, version);
      const committedAt = await this.apps.commit(manager, version);
      await this.audit.record(manager, principal, {
        action: AuditAction.VersionCommit,
        outcome: AuditOutcome.Ok,
        appId: version.appId,
        appVersionId: version.appVersionId,
        details: { message },
      });
      return { ...version, state: AppVersionState.Committed, committedAt };
    });
  }

  /** A system of the package, or one that its workflows use, can have been deleted by the interface; a committed version could never be mended. */
  private async requireSystems(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const stored = await this.stored.read(manager, version);
    const named = stored === null ? [] : (this.packages.parse(stored.document).package?.systems ?? []);
    const used = agentNodes(stored?.workflows ?? []).flatMap(({ node }) => node.aiOptions?.mcpServers ?? []);
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
