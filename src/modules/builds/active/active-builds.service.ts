import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { demandMatch, type ChangeCondition } from '../../../common/http/conditional-requests.js';
import type { Principal } from '../../../common/user/principal.js';
import { Clock } from '../../../common/clock.js';
import { Database } from '../../../database/database.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import { ActiveBuildsRepository } from '../storage/active-builds.repository.js';
import { BuildDefinitionsService } from '../contents/build-definitions.service.js';
import { ActiveBuildNotFoundError, BuildNotFoundError, BuildWithdrawnError } from '../model/builds.errors.js';
import { BuildsRepository } from '../storage/builds.repository.js';
import {
  BuildStatus,
  type ActivatedBuild,
  type Activation,
  type BuildInfo,
  type BuildSummary,
} from '../model/builds.types.js';

/** Part of the transaction in which a build becomes the active one. It may touch nothing but the manager. */
export type ActivationListener = (
  manager: EntityManager,
  appId: string,
  build: ActivatedBuild,
) => Promise<void>;

/**
 * Work of a listener before that transaction begins, such as reserving ids; `build` is the object that the transaction gets.
 */
export type ActivationPreparation = (appId: string, build: ActivatedBuild) => Promise<void>;

interface Replacement {
  summary: BuildSummary;
  build: ActivatedBuild;
  condition: ChangeCondition | undefined;
}

/** Which build of an application is active (docs/process-semantics.md, section 1): at most one, effective at once. */
@Injectable()
export class ActiveBuildsService {
  private readonly listeners: {
    listener: ActivationListener;
    prepare: ActivationPreparation | undefined;
    after: (() => Promise<void>) | undefined;
  }[] = [];

  constructor(
    private readonly database: Database,
    private readonly builds: BuildsRepository,
    private readonly actives: ActiveBuildsRepository,
    private readonly definitions: BuildDefinitionsService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a listener part of every activation from now on: for starts by timers and messages.
   * @param prepare runs before the transaction, where the database may be asked
   * @param after runs when the transaction is stored; it must not throw
   */
  onActivated(
    listener: ActivationListener,
    prepare?: ActivationPreparation,
    after?: () => Promise<void>,
  ): void {
    this.listeners.push({ listener, prepare, after });
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
    const summary = await this.database.read((manager) => this.builds.find(manager, appId, buildId));
    if (summary === null) {
      throw new BuildNotFoundError();
    }
    const definitions = await this.definitions.ofBuild(buildId);
    for (const definition of definitions) {
      await this.definitions.demandWhole(definition);
    }
    const build: ActivatedBuild = {
      buildId,
      definitions,
      previousBuildId: null,
      activatedAt: this.clock.now(),
    };
    for (const { prepare } of this.listeners) {
      await prepare?.(appId, build);
    }
    const activation = await this.database.write((manager) =>
      this.replace(manager, principal, { summary, build, condition }),
    );
    for (const { after } of this.listeners) {
      await after?.();
    }
    return activation;
  }

  /**
   * The active build of an application.
   * @throws ActiveBuildNotFoundError
   */
  async get(appId: string): Promise<Omit<Activation, 'previousBuildId'>> {
    const active = await this.database.read((manager) => this.actives.find(manager, appId));
    if (active === null) {
      throw new ActiveBuildNotFoundError();
    }
    return active;
  }

  /**
   * What front ends need to know of the active build (docs/process-semantics.md, section 1).
   * @throws ActiveBuildNotFoundError
   */
  async info(appId: string): Promise<BuildInfo> {
    const { buildId } = await this.get(appId);
    const build = await this.database.read((manager) => this.builds.findWhole(manager, appId, buildId));
    if (build === null) {
      throw new BuildNotFoundError();
    }
    return {
      buildId,
      applicationId: appId,
      applicationVersionId: build.appVersionId,
      settings: JSON.parse(build.settings) as PackageSettings,
    };
  }

  private async replace(
    manager: EntityManager,
    principal: Principal,
    { summary: { appId, appVersionId, buildId }, build, condition }: Replacement,
  ): Promise<Activation> {
    const before = await this.actives.lock(manager, appId);
    demandMatch(condition, before && activeBuildTag(before));
    if (before?.buildId === buildId) {
      return { buildId, previousBuildId: buildId, activatedAt: before.activatedAt };
    }
    const [standing] = await this.builds.standings(manager, [buildId]);
    if (standing?.status === BuildStatus.Withdrawn) {
      throw new BuildWithdrawnError();
    }
    const previousBuildId = before?.buildId ?? null;
    const activatedAt = this.clock.now();
    await this.builds.noteActive(manager, buildId, activatedAt);
    await this.actives.update(manager, appId, { buildId, activatedAt, activatedBy: principal.user });
    build.previousBuildId = previousBuildId;
    build.activatedAt = activatedAt;
    for (const { listener } of this.listeners) {
      await listener(manager, appId, build);
    }
    await this.audit.record(manager, principal, {
      action: AuditAction.BuildActivate,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      details: { buildId, previousBuildId },
    });
    return { buildId, previousBuildId, activatedAt };
  }
}

/** The entity tag of an active build: another one after each activation that changed something. */
export function activeBuildTag({
  buildId,
  activatedAt,
}: Pick<Activation, 'buildId' | 'activatedAt'>): string {
  return `"${buildId}.${activatedAt.getTime()}"`;
}
