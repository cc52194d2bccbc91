import { Injectable } from '@nestjs/common';
import { Permission } from '../../../platform/auth/permission.js';
import type { DomainError } from '../../../platform/errors/domain.error.js';
import { LruCache } from '../../../platform/lru-cache.js';
import { mayFor } from '../../../platform/user/grant.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import type { SharedRead } from '../../../store/groups/read-queue.js';
import { BuildNeverActiveError, BuildWithdrawnError } from '../model/builds.errors.js';
import { BuildStatus } from '../model/builds.types.js';
import { Builds, type BuildState } from '../storage/builds.repository.js';
import { buildLimits } from '../build.limits.js';

/** How long starts may rely on a cached status that is not withdrawn. */
const STARTABLE_MS = 1_000;
/** How long a withdrawal waits before it is answered, so that every cached status has expired on all replicas. */
export const WITHDRAWAL_WAIT_MS = STARTABLE_MS + 100;

/** Decides whether processes of a build may be started now (docs/contract.md, section 6). Not for use inside a transaction. */
@Injectable()
export class BuildStatusService {
  private readonly statusOf: SharedRead<string, BuildState | null>;
  /** Builds known to have been active, which never changes. */
  private readonly wereActive: LruCache<string, true>;
  /** Time (`performance.now()`) until which the status of a build need not be read again. */
  private readonly startableUntil: LruCache<string, number>;

  constructor(database: Database) {
    this.statusOf = database.sharedRead(
      (manager, ids: readonly string[]) => Builds.states(manager, ids),
      (id) => id,
    );
    const limits = { entries: buildLimits.cacheEntries };
    this.wereActive = new LruCache(limits);
    this.startableUntil = new LruCache(limits);
  }

  /**
   * Rejects the start of a build that was never active, unless the caller may deliver the application.
   * @throws BuildNeverActiveError
   */
  async requireStarter(principal: Principal, appId: string, buildId: string): Promise<void> {
    if (mayFor(principal, Permission.ApplicationDelivery, appId) || this.wereActive.get(buildId) === true) {
      return;
    }
    if (((await this.statusOf(buildId))?.activatedAt ?? null) === null) {
      throw new BuildNeverActiveError();
    }
    this.wereActive.set(buildId, true);
  }

  /**
   * Rejects the start of a withdrawn build. Reads the status at most once a second. A withdrawal is answered only after every cached status
   * has expired, so no start that begins after the answer succeeds.
   * @throws BuildWithdrawnError
   */
  async requireNotWithdrawn(buildId: string): Promise<void> {
    const now = performance.now();
    if (now < (this.startableUntil.get(buildId) ?? 0)) {
      return;
    }
    if ((await this.statusOf(buildId))?.status === BuildStatus.Withdrawn) {
      throw new BuildWithdrawnError();
    }
    this.startableUntil.set(buildId, now + STARTABLE_MS);
  }

  /** Returns instead of throwing: why this caller may start nothing of a build, and why no caller may. Null means no objection. */
  async refusalsOf(
    principal: Principal,
    appId: string,
    buildId: string,
  ): Promise<{ ofCaller: DomainError | null; ofAll: DomainError | null }> {
    return {
      ofCaller: await refusalIn(this.requireStarter(principal, appId, buildId)),
      ofAll: await refusalIn(this.requireNotWithdrawn(buildId)),
    };
  }
}

async function refusalIn(check: Promise<void>): Promise<DomainError | null> {
  try {
    await check;
    return null;
  } catch (error) {
    if (error instanceof BuildNeverActiveError || error instanceof BuildWithdrawnError) {
      return error;
    }
    throw error;
  }
}
