import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { CheckContext, DefinitionIds, PackageProblem } from '../../packages/model/package.types.js';
import { PackageThreadsService } from '../../packages/package-threads.service.js';
import type { JudgedPackage, PackageJson } from '../../packages/thread/package-task.types.js';
import { SystemStatesService } from '../../systems/lookups/system-states.service.js';
import { SystemType } from '../../systems/model/system.types.js';
import { SystemsImportService } from '../../systems/delivery/systems-import.service.js';
import { LibrariesService, type ResolvedLibraries } from '../libraries/libraries.service.js';
import { LibraryRightsService } from '../libraries/library-rights.service.js';
import { workflowDefinitionId } from './resource-ids.js';

/** A package with all that a check of it found out; `package` is null when there are errors among the problems. */
export interface PackageCheck {
  package: JudgedPackage | null;
  libraries: ResolvedLibraries | null;
  problems: PackageProblem[];
}

/** What is asked of a check. */
export interface CheckOptions {
  /** The compiled processes too, for a build. */
  withProcesses?: boolean;
  /** Builds that are looked up as if they were not there. */
  hidden?: ReadonlySet<string>;
}

/** Checks packages against stored builds of libraries, systems of the version, and definition ids. */
@Injectable()
export class PackageCheckService {
  constructor(
    private readonly threads: PackageThreadsService,
    private readonly libraries: LibrariesService,
    private readonly systems: SystemsImportService,
    private readonly states: SystemStatesService,
    private readonly rights: LibraryRightsService,
  ) {}

  /**
   * Not inside of a transaction.
   * @param json of unknown origin
   * @throws UnreadableBodyError when it is no JSON object
   * @throws PackageChecksBusyError when too many packages wait
   */
  async check(
    version: AppVersionKey,
    json: PackageJson,
    { withProcesses = false, hidden = new Set() }: CheckOptions = {},
  ): Promise<PackageCheck> {
    const { appId } = version;
    return this.threads.inTurn(async (thread) => {
      const { outline, problems } = await thread.read({ json, appId });
      if (outline === null) {
        return { package: null, libraries: null, problems };
      }
      const libraries = await this.libraries.resolve(appId, outline.libraries, hidden);
      const definitionIds = await this.definitionIds(appId, outline);
      const registered = await this.registered(version);
      const context = { appId, libraries: libraries.direct, definitionIds, registered };
      const checked = await thread.check({ json, context, withProcesses });
      const all = [...problems, ...libraries.problems, ...checked.problems];
      return { package: hasErrors(all) ? null : checked.judged, libraries, problems: all };
    });
  }

  /**
   * As `check`, for somebody who wants to store or build the package.
   * @throws LibraryNotUsableError when the application must not use a library that it names. It comes before all other
   * problems, which could tell the contents of the library. A caller who may not deliver that library is told nothing of it
   */
  async require(
    principal: Principal,
    version: AppVersionKey,
    json: PackageJson,
    options: CheckOptions = {},
  ): Promise<PackageCheck> {
    const checked = await this.check(version, json, options);
    const hidden = await this.rights.require(principal, version, checked.libraries?.named ?? []);
    return hidden.size === 0 ? checked : this.check(version, json, { ...options, hidden });
  }

  private async registered(version: AppVersionKey): Promise<NonNullable<CheckContext['registered']>> {
    const systems = await this.states.ofVersion(version);
    return systems
      .filter(({ type }) => type === SystemType.Mcp)
      .map(({ resourceName, resourceDefinitionId }) => ({ resourceName, resourceDefinitionId }));
  }

  /** Definition ids of the systems and workflows of a package, as far as they are known already. */
  async definitionIds(
    appId: string,
    {
      systems,
      workflows,
    }: { systems: readonly { resourceName: string }[]; workflows: readonly { name: string }[] },
  ): Promise<DefinitionIds> {
    const names = systems.map(({ resourceName }) => resourceName);
    return {
      systems: await this.systems.definitionIds(appId, names),
      workflows: new Map(workflows.map(({ name }) => [nameKey(name), workflowDefinitionId(appId, name)])),
    };
  }
}

function hasErrors(problems: PackageProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}
