import { Injectable } from '@nestjs/common';
import { inTurn, inTurns } from '../../../common/turns.js';
import { Database } from '../../../database/database.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import { BuildDefinitionsService } from '../contents/build-definitions.service.js';
import { BuildNotFoundError } from '../model/builds.errors.js';
import type { BuildLibrary } from '../model/builds.types.js';
import { BuildContentsRepository } from '../storage/build-contents.repository.js';
import { BuildsRepository } from '../storage/builds.repository.js';
import type { BuildDifferences, ComparedPart } from './build-differences.types.js';
import { differencesOf } from './compare-parts.js';
import {
  partOfLibrary,
  partOfSettings,
  partsOfProcess,
  partsOfSystems,
  partsOfWorkflow,
} from './compared-parts.js';

/** A build that brings parts: the one that is looked at, or a library of it. */
type BringingBuild = Pick<BuildLibrary, 'appId' | 'buildId'>;

/** What activating a build would change (docs/contract.md, section 6.2). Builds never change, so nothing is locked. */
@Injectable()
export class BuildDifferencesService {
  constructor(
    private readonly database: Database,
    private readonly builds: BuildsRepository,
    private readonly contents: BuildContentsRepository,
    private readonly definitions: BuildDefinitionsService,
  ) {}

  /**
   * Compares a build with the active one. Not inside of a transaction.
   * @throws BuildNotFoundError when the application has no such build
   */
  async ofBuild(appId: string, buildId: string): Promise<BuildDifferences> {
    const active = await this.definitions.activeBuild(appId);
    const activeBuildId = active?.buildId ?? null;
    if (activeBuildId === buildId) {
      return { buildId, activeBuildId, differences: [] };
    }
    const libraries = await this.libraries(buildId);
    const others = activeBuildId === null ? [] : await this.libraries(activeBuildId);
    const ids = new Set(others.map((library) => library.buildId));
    // What both have is equal in both.
    const shared = new Set(libraries.map((library) => library.buildId).filter((id) => ids.has(id)));
    const now = await this.whole({ appId, buildId }, libraries, shared);
    const before =
      activeBuildId === null ? [] : await this.whole({ appId, buildId: activeBuildId }, others, shared);
    return { buildId, activeBuildId, differences: differencesOf(before, now) };
  }

  /** A build with what its libraries bring, but for those that are left out. */
  private async whole(
    build: BringingBuild,
    libraries: readonly BuildLibrary[],
    leftOut: ReadonlySet<string>,
  ): Promise<ComparedPart[]> {
    const found = [
      await this.settings(build),
      ...libraries.map((library) => partOfLibrary(build.appId, library)),
    ];
    for (const bringing of [build, ...libraries.filter(({ buildId }) => !leftOut.has(buildId))]) {
      found.push(
        ...(await this.processes(bringing)),
        ...(await this.workflows(bringing)),
        ...(await this.systems(bringing)),
      );
    }
    return found;
  }

  private async libraries(buildId: string): Promise<BuildLibrary[]> {
    return this.database.read((manager) => this.contents.libraries(manager, buildId));
  }

  private async settings({ appId, buildId }: BringingBuild): Promise<ComparedPart> {
    const build = await this.database.read((manager) => this.builds.findWhole(manager, appId, buildId));
    if (build === null) {
      throw new BuildNotFoundError();
    }
    return partOfSettings(appId, JSON.parse(build.settings) as PackageSettings);
  }

  private async processes({ appId, buildId }: BringingBuild): Promise<ComparedPart[]> {
    const found: ComparedPart[] = [];
    for (const { graph } of await this.definitions.ofBuild(buildId)) {
      found.push(...(await inTurn(() => partsOfProcess(appId, graph))));
    }
    return found;
  }

  /** One after the other: a workflow can have many megabytes. */
  private async workflows({ appId, buildId }: BringingBuild): Promise<ComparedPart[]> {
    const rows = await this.database.read((manager) => this.contents.workflowIds(manager, buildId));
    const found: ComparedPart[] = [];
    for (const { name } of rows) {
      const text = await this.database.read((manager) => this.contents.workflow(manager, buildId, name));
      if (text !== null) {
        found.push(...(await inTurns(partsOfWorkflow(appId, text))));
      }
    }
    return found;
  }

  private async systems({ appId, buildId }: BringingBuild): Promise<ComparedPart[]> {
    const { systems, tools } = await this.database.read(async (manager) => ({
      systems: await this.contents.systems(manager, buildId),
      tools: await this.contents.toolFacts(manager, buildId),
    }));
    return inTurn(() => partsOfSystems(appId, systems, tools));
  }
}
