import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import type { LibraryBuild, LibraryReference, PackageProblem } from '../../packages/model/package.types.js';
import { BuildContentsRepository } from '../storage/build-contents.repository.js';
import { LibraryRightsRepository } from '../storage/library-rights.repository.js';
import { BuildsRepository } from '../storage/builds.repository.js';
import type { BuildLibrary, BuildSummary, NamedLibrary } from '../model/builds.types.js';
import type { ProcessGraph } from '../../process-definitions/model/process-graph.types.js';
import { BuildDefinitionsService } from '../contents/build-definitions.service.js';
import { libraryTree, type DirectLibrary } from './library-tree.js';
import { packageLimits } from '../../packages/package.limits.js';

/** The libraries that a package names. */
export interface ResolvedLibraries {
  /** Those that it names, as far as they exist, with what they offer. */
  direct: LibraryBuild[];
  /** The same, with the versions that they were built from. */
  named: NamedLibrary[];
  /** These and theirs. */
  tree: BuildLibrary[];
  /** What is wrong with the tree. Unknown builds are left to the check of the package. */
  problems: PackageProblem[];
}

/** Library dependencies: builds of other applications (docs/contract.md, section 6). */
@Injectable()
export class LibrariesService {
  constructor(
    private readonly database: Database,
    private readonly builds: BuildsRepository,
    private readonly contents: BuildContentsRepository,
    private readonly rights: LibraryRightsRepository,
    private readonly definitions: BuildDefinitionsService,
  ) {}

  /**
   * What builds hold never changes. Not inside of a transaction.
   * @param references those beyond `libraries` are not looked up: the check of the package refuses them
   * @param hidden ids of builds that are not found
   */
  async resolve(
    appId: string,
    references: LibraryReference[],
    hidden: ReadonlySet<string>,
  ): Promise<ResolvedLibraries> {
    const bounded = references.slice(0, packageLimits.libraries);
    const found: { build: BuildSummary; library: DirectLibrary }[] = [];
    for (const [index, reference] of bounded.entries()) {
      const build = await this.database.read((manager) =>
        this.builds.find(manager, reference.appId, reference.buildId),
      );
      if (build !== null && !hidden.has(build.buildId)) {
        const own = await this.database.read((manager) => this.contents.libraries(manager, build.buildId));
        const { buildId } = build;
        found.push({ build, library: { index, appId: build.appId, buildId, libraries: own } });
      }
    }
    const { tree, problems } = libraryTree(
      appId,
      found.map(({ library }) => library),
    );
    const direct = [];
    for (const { build } of found) {
      direct.push(await this.offerOf(build, appId));
    }
    return {
      direct,
      named: found.map(({ build: { appId: libraryAppId, appVersionId, buildId } }) => ({
        appId: libraryAppId,
        appVersionId,
        buildId,
      })),
      tree,
      problems,
    };
  }

  /** Systems of a library are not there for an application whose nodes its owner does not let use them. */
  private async offerOf({ appId, buildId }: BuildSummary, userAppId: string): Promise<LibraryBuild> {
    const processes = (await this.definitions.ofBuild(buildId)).map(({ graph }) => startsOf(graph));
    return this.database.read(async (manager) => ({
      appId,
      buildId,
      processes,
      workflows: await this.contents.workflowIds(manager, buildId),
      systems: (await this.rights.lendsSystems(manager, { appId, buildId }, userAppId))
        ? await this.contents.systems(manager, buildId)
        : [],
    }));
  }
}

/** What a call of a process needs to know of it: a graph is large, and goes to another thread. */
function startsOf({ name, starts, nodes }: ProcessGraph): LibraryBuild['processes'][number] {
  const kept = starts.flatMap((index) => nodes[index] ?? []);
  return { name, starts: kept.map((_, index) => index), nodes: kept };
}
