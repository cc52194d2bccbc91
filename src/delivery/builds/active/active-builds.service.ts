import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { PermissionDeniedError } from '../../../platform/auth/auth.errors.js';
import { Permission } from '../../../platform/auth/permission.js';
import { Clock } from '../../../platform/clock.js';
import { requireMatch, type ChangeCondition } from '../../../platform/http/conditional-requests.js';
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
import { WITHDRAWAL_WAIT_MS } from './build-status.service.js';

/** Hook that runs with every activation (for starts by timers and messages) or every withdrawal (for running instances). */
export interface BuildListener<Change> {
  /** Runs before the transaction and may use the database, for example to reserve ids. */
  prepare(change: Change): Promise<void>;
  /** Runs in the transaction with the object that `prepare` received, and may use only the manager. */
  store(manager: EntityManager, change: Change): Promise<void>;
  /** Runs after the transaction has been committed. Must not throw. */
  stored(): Promise<void>;
}

interface Replacement {
  summary: BuildSummary;
  build: ActivatedBuild;
  condition: ChangeCondition | undefined;
}

/**
 * Manages the active build of each application (docs/process-semantics.md, section 1): at most one, effective immediately. Also withdraws
 * builds: they can no longer be started and stay withdrawn (docs/contract.md, section 6.3).
 */
@Injectable()
export class ActiveBuildsService implements OnModuleInit {
  private readonly activationListeners: BuildListener<ActivatedBuild>[] = [];
  private readonly withdrawalListeners: BuildListener<Withdrawal>[] = [];

  constructor(
    private readonly database: Database,
    private readonly definitions: BuildDefinitionsService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    private readonly subjects: AuditSubjectsService,
  ) {}

  /** Looks up the version for audit events of refused calls about builds, whose paths contain no version. */
  onModuleInit(): void {
    this.subjects.register([AuditAction.WorkflowTest, AuditAction.BuildWithdraw], ({ appId, buildId }) =>
      this.subjectOf(String(appId), String(buildId)),
    );
    this.subjects.register([AuditAction.BuildActivate, AuditAction.EndpointUse], ({ appId }) =>
      this.subjectOf(String(appId)),
    );
  }

  /** Adds a listener to all future activations. */
  onActivated(listener: BuildListener<ActivatedBuild>): void {
    this.activationListeners.push(listener);
  }

  /** Adds a listener to all future withdrawals. */
  onWithdrawn(listener: BuildListener<Withdrawal>): void {
    this.withdrawalListeners.push(listener);
  }

  /**
   * Makes a build the active one. Does nothing, and records nothing, if it is active already.
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
      await this.definitions.verifyDefinition(definition);
    }
    const build = { buildId, definitions, previousBuildId: null, activatedAt: this.clock.now() };
    return this.withListeners(this.activationListeners, build, (manager) =>
      this.replace(manager, principal, { summary, build, condition }),
    );
  }

  /**
   * Withdraws a build, and returns once no replica starts it any more. Only treats the running instances if the build is withdrawn already.
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
    const withdrawn = await this.withListeners(this.withdrawalListeners, withdrawal, (manager) =>
      this.storeWithdrawal(manager, principal, withdrawal),
    );
    await sleep(WITHDRAWAL_WAIT_MS);
    return withdrawn;
  }

  /**
   * Returns the active build of an application.
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
   * Returns what front ends need to know about the active build (docs/process-semantics.md, section 1).
   * @throws ActiveBuildNotFoundError
   */
  async info(appId: string): Promise<BuildInfoResponseDto> {
    const { buildId } = await this.get(appId);
    const build = await this.database.read((manager) => Builds.requireWhole(manager, appId, buildId));
    const settings = JSON.parse(build.settings) as PackageSettings;
    const buildSettings = { applicationVersionId: build.appVersionId, ...settings };
    return { buildId, applicationId: appId, buildSettings };
  }

  private async withListeners<Change, Result>(
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
    requireMatch(condition, before && activeBuildTag(before));
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
    for (const listener of this.activationListeners) {
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
    // Activations take the same lock, so a build that is being withdrawn cannot become active.
    const active = await ActiveBuilds.lock(manager, appId);
    const { appVersionId } = await Builds.require(manager, appId, buildId);
    const isNew = await Builds.withdraw(manager, buildId);
    const wasActive = active?.buildId === buildId;
    if (wasActive) {
      await ActiveBuilds.clear(manager, appId);
    }
    if (isNew || running !== RunningInstances.Continue) {
      for (const listener of this.withdrawalListeners) {
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

  /** Returns the subject of a refused call. Where the path names no build, it is the active build or else the newest. */
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

/** Returns the entity tag of an active build, which differs after each activation that changes something. */
export function activeBuildTag({ buildId, activatedAt }: ActiveBuild): string {
  return `"${buildId}.${activatedAt.getTime()}"`;
}
