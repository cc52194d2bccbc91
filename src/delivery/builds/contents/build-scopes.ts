import { Injectable } from '@nestjs/common';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../store/database.js';
import { BuildSeals } from './build-seals.service.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import { Builds, LibraryRights } from '../storage/builds.repository.js';
import { LibraryRefusedError, type LibraryRefusal } from '../model/builds.errors.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import { LruCache } from '../../../platform/lru-cache.js';
import { buildLimits } from '../build.limits.js';

/** A build and its libraries, in the order in which names are looked up. */
type Scope = readonly Pick<BuildLibraryDto, 'appId' | 'buildId'>[];

/** Finds the builds in which names of a build are looked up. They never change and are cached, up to the number of cached definitions. */
@Injectable()
export class BuildScopes {
  private readonly cached: LruCache<string, Scope>;
  private readonly requiresConsent: boolean;

  constructor(
    private readonly database: Database,
    private readonly seals: BuildSeals,
    env: Env,
  ) {
    this.requiresConsent = env.get('LIBRARY_CONSENT_AT_CALLS');
    this.cached = new LruCache({ entries: buildLimits.cacheEntries });
  }

  /**
   * Returns the builds in which a name is looked up, in this order.
   * @param appId application of the build or of one of its libraries; null for all of them: the build itself, then the closest level first
   * and within a level the newest build
   * @throws BuildNotFoundError, BuildDamagedError
   */
  async candidates(buildId: string, appId: string | null): Promise<Scope> {
    const scope = this.cached.get(buildId) ?? (await this.load(buildId));
    return appId === null ? scope : scope.filter((build) => build.appId === appId);
  }

  /**
   * Searches the candidates in order.
   * @returns null when no candidate has it
   * @throws LibraryRefusedError when a library that must not be called has it; BuildNotFoundError, BuildDamagedError
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
   * Returns why a build must not call a library of its: the library was withdrawn, or with LIBRARY_CONSENT_AT_CALLS its owner no longer
   * lets the application use it. Returns undefined when it may.
   * @throws BuildNotFoundError
   */
  async refusalOf(buildId: string, called: Scope[number]): Promise<LibraryRefusal | undefined> {
    if (called.buildId === buildId) {
      return undefined;
    }
    const [own] = await this.candidates(buildId, null);
    return this.database.read(async (manager) => {
      if (own !== undefined && this.requiresConsent) {
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
    await this.seals.verifyLibraries(buildId, libraries);
    const scope = [{ appId, buildId }, ...libraries];
    this.cached.set(buildId, scope);
    return scope;
  }
}
