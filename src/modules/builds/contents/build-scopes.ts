import { Injectable } from '@nestjs/common';
import { Env } from '../../../config/env.js';
import { Database } from '../../../database/database.js';
import { BuildContentsRepository } from '../storage/build-contents.repository.js';
import { BuildsRepository } from '../storage/builds.repository.js';
import { BuildNotFoundError } from '../model/builds.errors.js';
import type { BuildLibrary } from '../model/builds.types.js';
import { RecentlyUsed } from '../../../common/recently-used.js';

/** A build and its libraries, in the order in which names are looked up. */
type Scope = readonly Pick<BuildLibrary, 'appId' | 'buildId'>[];

/** Where names of a build are looked up. Builds never change, so what was read once is kept, as many as definitions are. */
@Injectable()
export class BuildScopes {
  private readonly held: RecentlyUsed<string, Scope>;

  constructor(
    private readonly database: Database,
    private readonly builds: BuildsRepository,
    private readonly contents: BuildContentsRepository,
    env: Env,
  ) {
    this.held = new RecentlyUsed({ entries: env.get('DEFINITION_CACHE_ENTRIES') });
  }

  /**
   * The builds in which a name is looked up, in this order.
   * @param appId application of the build or of one of its libraries; null for all of them. The build itself comes first, then
   * the closest level, on one level the newest build
   * @throws BuildNotFoundError
   */
  async candidates(buildId: string, appId: string | null): Promise<Scope> {
    const scope = this.held.get(buildId) ?? (await this.load(buildId));
    return appId === null ? scope : scope.filter((build) => build.appId === appId);
  }

  private async load(buildId: string): Promise<Scope> {
    const scope = await this.database.read(async (manager) => {
      const own = await this.builds.appOf(manager, buildId);
      return own === null
        ? null
        : [{ appId: own, buildId }, ...(await this.contents.libraries(manager, buildId))];
    });
    if (scope === null) {
      throw new BuildNotFoundError();
    }
    this.held.set(buildId, scope);
    return scope;
  }
}
