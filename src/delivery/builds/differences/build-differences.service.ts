import { Injectable } from '@nestjs/common';
import { requestContext } from '../../../platform/observability/logging/request-context.js';
import { Bulkhead } from '../../../platform/concurrency/bulkhead.js';
import { inTurns } from '#engine/support';
import { Database } from '../../../store/database.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import { BuildDefinitionsService } from '../contents/build-definitions.service.js';
import { BuildComparisonsBusyError } from '../model/builds.errors.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import { Builds } from '../storage/builds.repository.js';
import { DefinitionRows } from '../storage/definition-rows.repository.js';
import type { BuildDifferenceDto, BuildDifferencesResponseDto } from './build-differences.dto.js';
import type { ComparedPart } from './build-differences.types.js';
import {
  differencesOf,
  partOfLibrary,
  partOfSettings,
  partsOfProcess,
  partsOfSystems,
  partsOfWorkflow,
} from './compared-parts.js';
import { buildLimits } from '../build.limits.js';

/** A build that brings parts: the one that is looked at, or a library of it. */
type BringingBuild = Pick<BuildLibraryDto, 'appId' | 'buildId'>;

/**
 * What activating a build would change, or what two builds have differently (docs/contract.md, section 6.2). Builds never change, so nothing is locked. They can be
 * large, so few are compared at once, one part after the other and in turns of the event loop.
 */
@Injectable()
export class BuildDifferencesService {
  /** One replica compares one build at a time. */
  private readonly comparisons: Bulkhead;

  constructor(
    private readonly database: Database,
    private readonly definitions: BuildDefinitionsService,
  ) {
    const { comparisonQueue: queue, comparisonWaitMs: waitMs } = buildLimits;
    this.comparisons = new Bulkhead({ capacity: 1, queue, waitMs }, () => new BuildComparisonsBusyError());
  }

  /**
   * Compares a build with the active one, or with another that is named. Not inside of a transaction.
   * @throws BuildNotFoundError when the application has no such build
   * @throws BuildComparisonsBusyError when too many wait, or one waits for too long
   */
  async ofBuild(appId: string, buildId: string, baseBuildId?: string): Promise<BuildDifferencesResponseDto> {
    const active = await this.definitions.activeBuild(appId);
    const activeBuildId = active?.buildId ?? null;
    const found = { buildId, activeBuildId, ...(baseBuildId === undefined ? {} : { baseBuildId }) };
    if (activeBuildId === buildId && baseBuildId === undefined) {
      return { ...found, differences: [] };
    }
    const base = baseBuildId ?? activeBuildId;
    const differences = await this.comparisons.run(() => this.compared({ appId, buildId }, base), {
      signal: requestContext()?.over,
    });
    return { ...found, differences };
  }

  private async compared(
    { appId, buildId }: BringingBuild,
    baseBuildId: string | null,
  ): Promise<BuildDifferenceDto[]> {
    const libraries = await this.libraries(buildId);
    const others = baseBuildId === null ? [] : await this.libraries(baseBuildId);
    const ids = new Set(others.map((library) => library.buildId));
    // What both have is equal in both.
    const shared = new Set(libraries.map((library) => library.buildId).filter((id) => ids.has(id)));
    const now = await this.whole({ appId, buildId }, libraries, shared);
    const before =
      baseBuildId === null ? [] : await this.whole({ appId, buildId: baseBuildId }, others, shared);
    return inTurns(differencesOf(before, now));
  }

  /** A build with what its libraries bring, but for those that are left out. */
  private async whole(
    build: BringingBuild,
    libraries: readonly BuildLibraryDto[],
    leftOut: ReadonlySet<string>,
  ): Promise<ComparedPart[]> {
    const found = [
      [await this.settings(build)],
      libraries.map((library) => partOfLibrary(build.appId, library)),
    ];
    for (const bringing of [build, ...libraries.filter(({ buildId }) => !leftOut.has(buildId))]) {
      found.push(
        await this.processes(bringing),
        await this.workflows(bringing),
        await this.systems(bringing),
      );
    }
    return found.flat();
  }

  private async libraries(buildId: string): Promise<BuildLibraryDto[]> {
    return this.database.read((manager) => BuildContents.libraries(manager, buildId));
  }

  private async settings({ appId, buildId }: BringingBuild): Promise<ComparedPart> {
    const build = await this.database.read((manager) => Builds.requireWhole(manager, appId, buildId));
    return partOfSettings(appId, JSON.parse(build.settings) as PackageSettings);
  }

  /** One after the other, and past those that are held: what runs needs its place there. */
  private async processes({ appId, buildId }: BringingBuild): Promise<ComparedPart[]> {
    const ids = await this.database.read((manager) => DefinitionRows.idsOf(manager, buildId));
    const found: ComparedPart[][] = [];
    for (const id of ids) {
      const graph = await this.database.read((manager) => DefinitionRows.graph(manager, id));
      found.push(await inTurns(partsOfProcess(appId, graph)));
    }
    return found.flat();
  }

  /** One after the other: a workflow can have many megabytes. */
  private async workflows({ appId, buildId }: BringingBuild): Promise<ComparedPart[]> {
    const rows = await this.database.read((manager) => BuildContents.workflowIds(manager, buildId));
    const found: ComparedPart[][] = [];
    for (const { name } of rows) {
      const text = await this.database.read((manager) => BuildContents.workflow(manager, buildId, name));
      if (text !== null) {
        found.push(await inTurns(partsOfWorkflow(appId, text)));
      }
    }
    return found.flat();
  }

  private async systems({ appId, buildId }: BringingBuild): Promise<ComparedPart[]> {
    const { systems, tools } = await this.database.read(async (manager) => ({
      systems: await BuildContents.systems(manager, buildId),
      tools: await BuildContents.toolFacts(manager, buildId),
    }));
    return inTurns(partsOfSystems(appId, systems, tools));
  }
}
