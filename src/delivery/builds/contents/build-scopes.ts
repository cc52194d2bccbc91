import { Injectable } from '@nestjs/common';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../store/database.js';
import { BuildSeals } from './build-seals.service.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import { Builds, LibraryRights } from '../storage/builds.repository.js';
import { LibraryRefusedError, type LibraryRefusal } from '../model/builds.errors.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import { RecentlyUsed } from '../../../platform/recently-used.js';
import { buildLimits } from '../build.limits.js';

/** A build and its libraries, in the order in which names are looked up. */
type Scope = readonly Pick<BuildLibraryDto, 'appId' | 'buildId'>[];

/** Where names of a build are looked up, which never changes: what was read once is kept, as many as definitions are. */
@Injectable()
export class BuildScopes {
  private readonly held: RecentlyUsed<string, Scope>;
  private readonly asksConsent: boolean;

  constructor(
    private readonly database: Database,
    private readonly seals: BuildSeals,
    env: Env,
  ) {
    this.asksConsent = env.get('LIBRARY_CONSENT_AT_CALLS');
    this.held = new RecentlyUsed({ entries: buildLimits.cacheEntries });
  }

  /**
   * The builds in which a name is looked up, in this order.
   * @param appId application of the build or of one of its libraries; null for all of them. The build itself comes first, then
   * the closest level, on one level the newest build
   * @throws BuildNotFoundError, BuildDamagedError
   */
  async candidates(buildId: string, appId: string | null): Promise<Scope> {
    const scope = this.held.get(buildId) ?? (await this.load(buildId));
    return appId === null ? scope : scope.filter((build) => build.appId === appId);
  }

  /**
   * Looks for something in the candidates, one after the other.
   * @returns null when none has it
   * @throws LibraryRefusedError for that of a library which must not be called; BuildNotFoundError, BuildDamagedError
   */
  async find<Found>(
    buildId: string,
    appId: string | null,
    look: (build: Scope[number]) => Promise<Found | null>,
  ): Promise<Found | null> {
    for (const build of await this.candidates(buildId, appId)) {
      const found = await look(build);
      if (found !== null) {
        const refusal = await this.refusalOf(buildId, build);
        if (refusal !== undefined) {
          throw new LibraryRefusedError(build, refusal);
        }
        return found;
      }
    }
    return null;
  }

  /**
   * Why something of a build must not be called by another one, a library of which it is: it was withdrawn, or with
   * LIBRARY_CONSENT_AT_CALLS its owner no longer lets the application use it; undefined where it may.
   * @throws BuildNotFoundError
   */
  async refusalOf(buildId: string, called: Scope[number]): Promise<LibraryRefusal | undefined> {
    if (called.buildId === buildId) {
      return undefined;
    }
    const [own] = await this.candidates(buildId, null);
    return this.database.read(async (manager) => {
      if (own !== undefined && this.asksConsent) {
        return (await LibraryRights.refusals(manager, own.appId, [called])).get(called.buildId);
      }
      return (await Builds.isWithdrawn(manager, called.buildId)) ? 'WITHDRAWN' : undefined;
    });
  }

  private async load(buildId: string): Promise<Scope> {
    const { appId, libraries } = await this.database.read(async (manager) => ({
      appId: (await Builds.byId(manager, buildId)).appId,
      libraries: await BuildContents.libraries(manager, buildId),
    }));
    await this.seals.demandLibraries(buildId, libraries);
    const scope = [{ appId, buildId }, ...libraries];
    this.held.set(buildId, scope);
    return scope;
  }
}
