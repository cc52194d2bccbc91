import { Injectable } from '@nestjs/common';
import { requestContext } from '../../../platform/observability/logging/request-context.js';
import { Bulkhead } from '../../../platform/concurrency/bulkhead.js';
import { runYielding } from '#engine/support';
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

/** A build that contains parts: the one that is compared, or a library of it. */
type PartsBuild = Pick<BuildLibraryDto, 'appId' | 'buildId'>;

/**
 * Finds what activating a build would change, or what differs between two builds (docs/contract.md, section 6.2). Builds never change, so
 * nothing is locked. They can be large, so comparisons queue, and each works on one part after the other and yields the event loop.
 */
@Injectable()
export class BuildDifferencesService {
  /** Limits each replica to one comparison at once. */
  private readonly comparisons: Bulkhead;

  constructor(
    private readonly database: Database,
    private readonly definitions: BuildDefinitionsService,
  ) {
    const { comparisonQueue: queue, comparisonWaitMs: waitMs } = buildLimits;
    this.comparisons = new Bulkhead({ capacity: 1, queue, waitMs }, () => new BuildComparisonsBusyError());
  }

  /**
   * Compares a build with the active one, or with `baseBuildId`. Not for use inside a transaction.
   * @throws BuildNotFoundError when the application has no such build
   * @throws BuildComparisonsBusyError when too many comparisons wait, or this one waits for too long
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
    { appId, buildId }: PartsBuild,
    baseBuildId: string | null,
  ): Promise<BuildDifferenceDto[]> {
    const libraries = await this.libraries(buildId);
    const others = baseBuildId === null ? [] : await this.libraries(baseBuildId);
    const ids = new Set(others.map((library) => library.buildId));
    // Libraries that both builds use need no comparison.
    const shared = new Set(libraries.map((library) => library.buildId).filter((id) => ids.has(id)));
    const now = await this.whole({ appId, buildId }, libraries, shared);
    const before =
      baseBuildId === null ? [] : await this.whole({ appId, buildId: baseBuildId }, others, shared);
    return runYielding(differencesOf(before, now));
  }

  /** Returns the parts of a build and of its libraries, except the libraries in `leftOut`. */
  private async whole(
    build: PartsBuild,
    libraries: readonly BuildLibraryDto[],
    leftOut: ReadonlySet<string>,
  ): Promise<ComparedPart[]> {
    const found = [
      [await this.settings(build)],
      libraries.map((library) => partOfLibrary(build.appId, library)),
    ];
    for (const source of [build, ...libraries.filter(({ buildId }) => !leftOut.has(buildId))]) {
      found.push(await this.processes(source), await this.workflows(source), await this.systems(source));
    }
    return found.flat();
  }

  private async libraries(buildId: string): Promise<BuildLibraryDto[]> {
    return this.database.read((manager) => BuildContents.libraries(manager, buildId));
  }

  private async settings({ appId, buildId }: PartsBuild): Promise<ComparedPart> {
    const build = await this.database.read((manager) => Builds.requireWhole(manager, appId, buildId));
    return partOfSettings(appId, JSON.parse(build.settings) as PackageSettings);
  }

  /** Reads one process after the other and bypasses the cache, which is needed for running processes. */
  private async processes({ appId, buildId }: PartsBuild): Promise<ComparedPart[]> {
    const ids = await this.database.read((manager) => DefinitionRows.idsOf(manager, buildId));
    const found: ComparedPart[][] = [];
    for (const id of ids) {
      const graph = await this.database.read((manager) => DefinitionRows.graph(manager, id));
      found.push(await runYielding(partsOfProcess(appId, graph)));
    }
    return found.flat();
  }

  /** Reads one workflow after the other, as each can have many megabytes. */
  private async workflows({ appId, buildId }: PartsBuild): Promise<ComparedPart[]> {
    const rows = await this.database.read((manager) => BuildContents.workflowIds(manager, buildId));
    const found: ComparedPart[][] = [];
    for (const { name } of rows) {
      const text = await this.database.read((manager) => BuildContents.workflow(manager, buildId, name));
      if (text !== null) {
        found.push(await runYielding(partsOfWorkflow(appId, text)));
      }
    }
    return found.flat();
  }

  private async systems({ appId, buildId }: PartsBuild): Promise<ComparedPart[]> {
    const { systems, tools } = await this.database.read(async (manager) => ({
      systems: await BuildContents.systems(manager, buildId),
      tools: await BuildContents.toolFacts(manager, buildId),
    }));
    return runYielding(partsOfSystems(appId, systems, tools));
  }
}
