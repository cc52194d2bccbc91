import { Injectable } from '@nestjs/common';
import { Permission } from '../../../platform/auth/permission.js';
import type { DomainError } from '../../../platform/errors/domain.error.js';
import { RecentlyUsed } from '../../../platform/recently-used.js';
import { mayFor } from '../../../platform/user/grant.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import type { SharedRead } from '../../../store/groups/read-queue.js';
import { BuildNeverActiveError, BuildWithdrawnError } from '../model/builds.errors.js';
import { BuildStatus } from '../model/builds.types.js';
import { Builds, type BuildStanding } from '../storage/builds.repository.js';
import { buildLimits } from '../build.limits.js';

/** How long starts may rely on having read that a build is not withdrawn. */
const STARTABLE_MS = 1_000;
/** How long a withdrawal waits before it is answered, so that no replica relies on an earlier reading any more. */
export const WITHDRAWAL_WAIT_MS = STARTABLE_MS + 100;

/** Decides whether processes of a build may be started now (docs/contract.md, section 6). Not inside of a transaction. */
@Injectable()
export class BuildStandingsService {
  private readonly standingOf: SharedRead<string, BuildStanding | null>;
  /** Builds that were active: that never changes. */
  private readonly wereActive: RecentlyUsed<string, true>;
  /** Until when starts of a build need no reading, on the clock of `performance.now()`. */
  private readonly startableUntil: RecentlyUsed<string, number>;

  constructor(database: Database) {
    this.standingOf = database.sharedRead(
      (manager, ids: readonly string[]) => Builds.standings(manager, ids),
      (id) => id,
    );
    const limits = { entries: buildLimits.cacheEntries };
    this.wereActive = new RecentlyUsed(limits);
    this.startableUntil = new RecentlyUsed(limits);
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

  /**
   * Reads the status of a build at most once a second. A withdrawal is answered only when every earlier reading has expired, so no start
   * that begins after the answer succeeds.
   * @throws BuildWithdrawnError
   */
  async demandNotWithdrawn(buildId: string): Promise<void> {
    const asked = performance.now();
    if (asked < (this.startableUntil.get(buildId) ?? 0)) {
      return;
    }
    if ((await this.standingOf(buildId))?.status === BuildStatus.Withdrawn) {
      throw new BuildWithdrawnError();
    }
    this.startableUntil.set(buildId, asked + STARTABLE_MS);
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
