import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { demandMatch, type IfMatch } from '../../../common/http/conditional-requests.js';
import { Database } from '../../../database/database.js';
import { AppsService } from '../../apps/apps.service.js';
import { AppVersionState, type AppVersionKey } from '../../apps/apps.types.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { BuildWarningsService } from './build-warnings.service.js';
import type { CommittedVersion } from '../model/builds.types.js';
import { untilUnmoved } from '../packages/moved-packages.js';
import { CommitChecksService, type CheckedVersion } from './commit-checks.service.js';

interface CommitOrder {
  message: string | null;
  condition: IfMatch | undefined;
}

/** Commits application versions (docs/contract.md, section 6). */
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
   * @param condition tags of packages, their quoted checksums, of which one must be stored
   * @throws VersionNotFoundError when nothing is stored for it
   * @throws VersionCommittedError when that was done before
   * @throws PackageSystemsMissingError when its package and its systems contradict each other
   * @throws PackageOutdatedError, LibraryNotUsableError when no build of it could be made
   * @throws PackageMovedError when packages were stored all the time
   * @throws ChangedMeanwhileError when another package is stored
   */
  async commit(
    principal: Principal,
    version: AppVersionKey,
    message: string | null,
    condition?: IfMatch,
  ): Promise<CommittedVersion> {
    await this.database.read((manager) => this.apps.requireDraft(manager, version));
    const committed = await this.checkedCommit(principal, version, { message, condition });
    return { ...committed, warnings: await this.warnings.of({ ...version, buildId: null }) };
  }

  /** Where another package was stored after the check, that one is checked. */
  private checkedCommit(
    principal: Principal,
    version: AppVersionKey,
    order: CommitOrder,
  ): Promise<Omit<CommittedVersion, 'warnings'>> {
    return untilUnmoved(async () => {
      const checked = await this.checks.requireBuildable(principal, version);
      return this.database.write((manager) => this.store(manager, principal, version, { checked, ...order }));
    });
  }

  private async store(
    manager: EntityManager,
    principal: Principal,
    version: AppVersionKey,
    { checked, message, condition }: CommitOrder & { checked: CheckedVersion },
  ): Promise<Omit<CommittedVersion, 'warnings'>> {
    await this.apps.openForCommit(manager, version);
    await this.checks.requireUnchanged(manager, version, checked);
    demandMatch(condition, checked.checksum === null ? null : `"${checked.checksum}"`);
    const committedAt = await this.apps.commit(manager, version);
    await this.audit.record(manager, principal, {
      action: AuditAction.VersionCommit,
      outcome: AuditOutcome.Ok,
      appId: version.appId,
      appVersionId: version.appVersionId,
      details: { message },
    });
    return { ...version, state: AppVersionState.Committed, committedAt };
  }
}
