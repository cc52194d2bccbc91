import { Injectable } from '@nestjs/common';
import { Permission } from '../../../common/auth/permission.js';
import type { DomainError } from '../../../common/errors/domain.error.js';
import { RecentlyUsed } from '../../../common/recently-used.js';
import { mayFor } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import type { SharedRead } from '../../../database/groups/read-queue.js';
import { BuildNeverActiveError, BuildWithdrawnError } from '../model/builds.errors.js';
import { BuildStatus } from '../model/builds.types.js';
import { BuildsRepository, type BuildStanding } from '../storage/builds.repository.js';

/** Decides whether processes of a build may be started now (docs/contract.md, section 6). Not inside of a transaction. */
@Injectable()
export class BuildStandingsService {
  private readonly standingOf: SharedRead<string, BuildStanding | null>;
  /** Builds that were active: that never changes. */
  private readonly wereActive: RecentlyUsed<string, true>;

  constructor(database: Database, builds: BuildsRepository, env: Env) {
    this.standingOf = database.sharedRead(
      (manager, ids: readonly string[]) => builds.standings(manager, ids),
      (id) => id,
    );
    this.wereActive = new RecentlyUsed({ entries: env.get('DEFINITION_CACHE_ENTRIES') });
  }

  /**
   * Lets everybody start builds that were ever active, and others only those who may deliver the application.
   * @throws BuildNeverActiveError
   */
  async demandStarter(principal: Principal, appId: string, buildId: string): Promise<void> {
    if (mayFor(principal, Permission.ApplicationDelivery, appId) || this.wereActive.get(buildId) === true) {
      return;
    }
    if (((await this.standingOf(buildId))?.activatedAt ?? null) === null) {
      throw new BuildNeverActiveError();
    }
    this.wereActive.set(buildId, true);
  }

  /** @throws BuildWithdrawnError */
  async demandNotWithdrawn(buildId: string): Promise<void> {
    if ((await this.standingOf(buildId))?.status === BuildStatus.Withdrawn) {
      throw new BuildWithdrawnError();
    }
  }

  /** As an answer: why a caller may start nothing of a build whatever else holds, and why nobody may; null for nothing. */
  async refusalsOf(
    principal: Principal,
    appId: string,
    buildId: string,
  ): Promise<{ ofCaller: DomainError | null; ofAll: DomainError | null }> {
    return {
      ofCaller: await refusalIn(this.demandStarter(principal, appId, buildId)),
      ofAll: await refusalIn(this.demandNotWithdrawn(buildId)),
    };
  }
}

async function refusalIn(demand: Promise<void>): Promise<DomainError | null> {
  try {
    await demand;
    return null;
  } catch (error) {
    if (error instanceof BuildNeverActiveError || error instanceof BuildWithdrawnError) {
      return error;
    }
    throw error;
  }
}
