import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { AuditSubjectsService, type AuditSubject } from '../audit/recording/audit-subjects.service.js';
import { AuditAction } from '../audit/model/audit.types.js';
import { ActiveBuildsRepository } from './storage/active-builds.repository.js';
import { BuildsRepository } from './storage/builds.repository.js';

/** Finds the version for the audit of refused calls about builds: their paths name no version. */
@Injectable()
export class BuildAuditSubjects implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly builds: BuildsRepository,
    private readonly actives: ActiveBuildsRepository,
    private readonly subjects: AuditSubjectsService,
  ) {}

  onModuleInit(): void {
    this.subjects.register([AuditAction.WorkflowTest, AuditAction.BuildWithdraw], ({ appId, buildId }) =>
      this.ofBuild(String(appId), String(buildId)),
    );
    this.subjects.register([AuditAction.BuildActivate], ({ appId }) => this.ofApplication(String(appId)));
  }

  private async ofBuild(appId: string, buildId: string): Promise<AuditSubject | null> {
    const build = await this.database.read((manager) => this.builds.find(manager, appId, buildId));
    return build === null ? null : { appId, appVersionId: build.appVersionId, details: { buildId } };
  }

  /** Nobody has read which build it was: the one that stays active is told, or else the newest. */
  private async ofApplication(appId: string): Promise<AuditSubject | null> {
    const build = await this.database.read(async (manager) => {
      const active = await this.actives.find(manager, appId);
      const [newest] = await this.builds.page(manager, { appId }, 1);
      return active === null ? newest : this.builds.find(manager, appId, active.buildId);
    });
    return build === undefined || build === null ? null : { appId, appVersionId: build.appVersionId };
  }
}
