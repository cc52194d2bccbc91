import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PermissionDeniedError } from '../../../common/auth/auth.errors.js';
import { Permission } from '../../../common/auth/permission.js';
import { Clock } from '../../../common/clock.js';
import { mayFor } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { BuildNotFoundError } from '../model/builds.errors.js';
import { RunningInstances, type Withdrawal, type WithdrawnBuild } from '../model/builds.types.js';
import { ActiveBuildsRepository } from '../storage/active-builds.repository.js';
import { BuildsRepository } from '../storage/builds.repository.js';
import { WITHDRAWAL_WAIT_MS } from './build-standings.service.js';

/** Takes part in every withdrawal: for running instances. */
export interface WithdrawalListener {
  /** Runs before the transaction, where the database may be asked. */
  prepare(withdrawal: Withdrawal): Promise<void>;
  /** Runs in the transaction; it gets the object that `prepare` got. */
  store(manager: EntityManager, withdrawal: Withdrawal): Promise<void>;
  /** Runs when the transaction is stored; it must not throw. */
  stored(): Promise<void>;
}

/** Withdraws builds: nothing of them is started any more, and they stay withdrawn (docs/contract.md, section 6.3). */
@Injectable()
export class BuildWithdrawalsService {
  private readonly listeners: WithdrawalListener[] = [];

  constructor(
    private readonly database: Database,
    private readonly builds: BuildsRepository,
    private readonly actives: ActiveBuildsRepository,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** Makes a listener part of every withdrawal from now on. */
  onWithdrawn(listener: WithdrawalListener): void {
    this.listeners.push(listener);
  }

  /**
   * Withdraws a build, and returns when no replica starts it any more. Of one that is withdrawn already only the running instances are
   * treated.
   * @throws BuildNotFoundError when the application has no such build
   * @throws PermissionDeniedError when the caller may not do this to running instances
   */
  async withdraw(
    principal: Principal,
    appId: string,
    buildId: string,
    running: RunningInstances,
  ): Promise<WithdrawnBuild> {
    const permission = Permission.ProcessAdministration;
    if (running !== RunningInstances.Continue && !mayFor(principal, permission, appId)) {
      throw new PermissionDeniedError(permission);
    }
    const withdrawal = { appId, buildId, running, actor: principal.user.userName, at: this.clock.now() };
    for (const listener of this.listeners) {
      await listener.prepare(withdrawal);
    }
    const withdrawn = await this.database.write((manager) => this.store(manager, principal, withdrawal));
    for (const listener of this.listeners) {
      await listener.stored();
    }
    await sleep(WITHDRAWAL_WAIT_MS);
    return withdrawn;
  }

  private async store(
    manager: EntityManager,
    principal: Principal,
    withdrawal: Withdrawal,
  ): Promise<WithdrawnBuild> {
    const { appId, buildId, running } = withdrawal;
    // The lock of an activation: a build that is withdrawn meanwhile does not become active.
    const active = await this.actives.lock(manager, appId);
    const build = await this.builds.find(manager, appId, buildId);
    if (build === null) {
      throw new BuildNotFoundError();
    }
    const isNew = await this.builds.withdraw(manager, buildId);
    const wasActive = active?.buildId === buildId;
    if (wasActive) {
      await this.actives.clear(manager, appId);
    }
    if (isNew || running !== RunningInstances.Continue) {
      for (const listener of this.listeners) {
        await listener.store(manager, withdrawal);
      }
      await this.audit.record(manager, principal, {
        action: AuditAction.BuildWithdraw,
        outcome: AuditOutcome.Ok,
        appId,
        appVersionId: build.appVersionId,
        details: { buildId, running, wasActive },
      });
    }
    return { buildId, running, wasActive };
  }
}
