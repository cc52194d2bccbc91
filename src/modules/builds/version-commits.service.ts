import { Injectable } from '@nestjs/common';
import type { Principal } from '../../common/auth/principal.js';
import { Database } from '../../database/database.js';
import { AppsService } from '../apps/apps.service.js';
import { AppVersionState, type AppVersionKey } from '../apps/apps.types.js';
import { AuditService } from '../audit/audit.service.js';
import { AuditAction, AuditOutcome } from '../audit/audit.types.js';
import { BuildWarningsService } from './build-warnings.service.js';
import type { CommittedVersion } from './builds.types.js';
import { CommitChecksService } from './commit-checks.service.js';

/** Commits application versions (decisions, section 4). */
@Injectable()
export class VersionCommitsService {
  constructor(
    private readonly database: Database,
    private readonly apps: AppsService,
    private readonly checks: CommitChecksService,
    private readonly audit: AuditService,
    private readonly warnings: BuildWarningsService,
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
  ): Promise<CommittedVersion> {
    const committed = await this.database.write(async (manager) => {
      await this.apps.openForCommit(manager, version);
      await this.checks.requireSystems(manager, version);
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
    return { ...committed, warnings: await this.warnings.of({ ...version, buildId: null }) };
  }
}
