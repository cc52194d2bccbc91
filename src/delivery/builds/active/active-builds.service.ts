import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PermissionDeniedError } from '../../../platform/auth/auth.errors.js';
import { Permission } from '../../../platform/auth/permission.js';
import { Clock } from '../../../platform/clock.js';
import { demandMatch, type ChangeCondition } from '../../../platform/http/conditional-requests.js';
import { mayFor } from '../../../platform/user/grant.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import { AuditSubjectsService, type AuditSubject } from '../../../audit/recording/audit-subjects.service.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import { BuildDefinitionsService } from '../contents/build-definitions.service.js';
import { ActiveBuildNotFoundError, BuildWithdrawnError } from '../model/builds.errors.js';
import {
  BuildStatus,
  RunningInstances,
  type ActivatedBuild,
  type Activation,
  type BuildSummary,
  type Withdrawal,
} from '../model/builds.types.js';
import { ActiveBuilds, Builds, type ActiveBuild } from '../storage/builds.repository.js';
import type { BuildInfoResponseDto, WithdrawnBuildResponseDto } from './active-build.dto.js';
import { WITHDRAWAL_WAIT_MS } from './build-standings.service.js';

/** Takes part in every change of one kind: in activations for starts by timers and messages, in withdrawals for running instances. */
export interface BuildListener<Change> {
  /** Runs before the transaction, where the database may be asked, such as to reserve ids. */
  prepare(change: Change): Promise<void>;
  /** Runs in the transaction, and may touch nothing but the manager; it gets the object that `prepare` got. */
  store(manager: EntityManager, change: Change): Promise<void>;
  /** Runs when the transaction is stored; it must not throw. */
  stored(): Promise<void>;
}

interface Replacement {
  summary: BuildSummary;
  build: ActivatedBuild;
  condition: ChangeCondition | undefined;
}

/**
 * Which build of an application is active (docs/process-semantics.md, section 1): at most one, effective at once. Withdraws builds: nothing of
 * them is started any more, and they stay withdrawn (docs/contract.md, section 6.3).
 */
@Injectable()
export class ActiveBuildsService implements OnModuleInit {
  private readonly ofActivations: BuildListener<ActivatedBuild>[] = [];
  private readonly ofWithdrawals: BuildListener<Withdrawal>[] = [];

  constructor(
    private readonly database: Database,
    private readonly definitions: BuildDefinitionsService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    private readonly subjects: AuditSubjectsService,
  ) {}

  /** Finds the version for the audit of refused calls about builds: their paths name no version. */
  onModuleInit(): void {
    this.subjects.register([AuditAction.WorkflowTest, AuditAction.BuildWithdraw], ({ appId, buildId }) =>
      this.subjectOf(String(appId), String(buildId)),
    );
    this.subjects.register([AuditAction.BuildActivate], ({ appId }) => this.subjectOf(String(appId)));
  }

  /** Makes a listener part of every activation from now on. */
  onActivated(listener: BuildListener<ActivatedBuild>): void {
    this.ofActivations.push(listener);
  }

  /** Makes a listener part of every withdrawal from now on. */
  onWithdrawn(listener: BuildListener<Withdrawal>): void {
    this.ofWithdrawals.push(listener);
  }

  /**
   * Makes a build the active one. The one that is active already stays as it is, without a trace.
   * @param condition entity tags (`activeBuildTag`) of the active build as the caller may have read it
   * @throws BuildNotFoundError when the application has no such build
   * @throws BuildWithdrawnError, BuildDamagedError
   * @throws ChangedMeanwhileError, IfMatchRequiredError
   */
  async activate(
    principal: Principal,
    appId: string,
    buildId: string,
    condition?: ChangeCondition,
  ): Promise<Activation> {
    const summary = await this.database.read((manager) => Builds.require(manager, appId, buildId));
    const definitions = await this.definitions.ofBuild(buildId);
    for (const definition of definitions) {
      await this.definitions.demandWhole(definition);
    }
    const build = { buildId, definitions, previousBuildId: null, activatedAt: this.clock.now() };
    return this.changed(this.ofActivations, build, (manager) =>
      this.replace(manager, principal, { summary, build, condition }),
    );
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
  ): Promise<WithdrawnBuildResponseDto> {
    const permission = Permission.ProcessAdministration;
    if (running !== RunningInstances.Continue && !mayFor(principal, permission, appId)) {
      throw new PermissionDeniedError(permission);
    }
    const withdrawal = { appId, buildId, running, actor: principal.user.userName, at: this.clock.now() };
    const withdrawn = await this.changed(this.ofWithdrawals, withdrawal, (manager) =>
      this.storeWithdrawal(manager, principal, withdrawal),
    );
    await sleep(WITHDRAWAL_WAIT_MS);
    return withdrawn;
  }

  /**
   * The active build of an application.
   * @throws ActiveBuildNotFoundError
   */
  async get(appId: string): Promise<ActiveBuild> {
    const active = await this.database.read((manager) => ActiveBuilds.find(manager, appId));
    if (active === null) {
      throw new ActiveBuildNotFoundError();
    }
    return active;
  }

  /**
   * What front ends need to know of the active build (docs/process-semantics.md, section 1).
   * @throws ActiveBuildNotFoundError
   */
  async info(appId: string): Promise<BuildInfoResponseDto> {
    const { buildId } = await this.get(appId);
    const build = await this.database.read((manager) => Builds.requireWhole(manager, appId, buildId));
    const settings = JSON.parse(build.settings) as PackageSettings;
    const buildSettings = { applicationVersionId: build.appVersionId, ...settings };
    return { buildId, applicationId: appId, buildSettings };
  }

  private async changed<Change, Result>(
    listeners: readonly BuildListener<Change>[],
    change: Change,
    store: (manager: EntityManager) => Promise<Result>,
  ): Promise<Result> {
    for (const listener of listeners) {
      await listener.prepare(change);
    }
    const result = await this.database.write(store);
    for (const listener of listeners) {
      await listener.stored();
    }
    return result;
  }

  private async replace(
    manager: EntityManager,
    principal: Principal,
    { summary: { appId, appVersionId, buildId }, build, condition }: Replacement,
  ): Promise<Activation> {
    const before = await ActiveBuilds.lock(manager, appId);
    demandMatch(condition, before && activeBuildTag(before));
    if (before?.buildId === buildId) {
      return { buildId, previousBuildId: buildId, activatedAt: before.activatedAt };
    }
    if (await Builds.isWithdrawn(manager, buildId)) {
      throw new BuildWithdrawnError();
    }
    const activatedAt = this.clock.now();
    const activation = { buildId, previousBuildId: before?.buildId ?? null, activatedAt };
    await Builds.noteActive(manager, buildId, activatedAt);
    await ActiveBuilds.update(manager, appId, { buildId, activatedAt }, principal.user);
    Object.assign(build, activation);
    for (const listener of this.ofActivations) {
      await listener.store(manager, build);
    }
    await this.audit.record(manager, principal, {
      action: AuditAction.BuildActivate,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      details: { buildId, previousBuildId: activation.previousBuildId },
    });
    return activation;
  }

  private async storeWithdrawal(
    manager: EntityManager,
    principal: Principal,
    withdrawal: Withdrawal,
  ): Promise<WithdrawnBuildResponseDto> {
    const { appId, buildId, running } = withdrawal;
    // The lock of an activation: a build that is withdrawn meanwhile does not become active.
    const active = await ActiveBuilds.lock(manager, appId);
    const { appVersionId } = await Builds.require(manager, appId, buildId);
    const isNew = await Builds.withdraw(manager, buildId);
    const wasActive = active?.buildId === buildId;
    if (wasActive) {
      await ActiveBuilds.clear(manager, appId);
    }
    if (isNew || running !== RunningInstances.Continue) {
      for (const listener of this.ofWithdrawals) {
        await listener.store(manager, withdrawal);
      }
      await this.audit.record(manager, principal, {
        action: AuditAction.BuildWithdraw,
        outcome: AuditOutcome.Ok,
        appId,
        appVersionId,
        details: { buildId, running, wasActive },
      });
    }
    return { buildId, buildStatus: BuildStatus.Withdrawn, running, wasActive };
  }

  /** Where the path names no build, nobody has read which it was: the one that stays active is told, or else the newest. */
  private async subjectOf(appId: string, named?: string): Promise<AuditSubject | null> {
    return this.database.read(async (manager) => {
      const buildId = named ?? (await ActiveBuilds.find(manager, appId))?.buildId;
      const build =
        buildId === undefined
          ? (await Builds.page(manager, { appId }, 1))[0]
          : await Builds.find(manager, appId, buildId);
      const details = named === undefined ? {} : { details: { buildId: named } };
      return build ? { appId, appVersionId: build.appVersionId, ...details } : null;
    });
  }
}

/** The entity tag of an active build: another one after each activation that changed something. */
export function activeBuildTag({ buildId, activatedAt }: ActiveBuild): string {
  return `"${buildId}.${activatedAt.getTime()}"`;
}
