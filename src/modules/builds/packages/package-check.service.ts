import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { CheckedPackage, DefinitionIds, PackageProblem } from '../../packages/model/package.types.js';
import { PackagesService } from '../../packages/packages.service.js';
import { SystemStatesService } from '../../systems/lookups/system-states.service.js';
import { SystemType } from '../../systems/model/system.types.js';
import { SystemsImportService } from '../../systems/delivery/systems-import.service.js';
import { LibrariesService, type ResolvedLibraries } from '../libraries/libraries.service.js';
import { LibraryRightsService } from '../libraries/library-rights.service.js';
import { workflowDefinitionId } from './resource-ids.js';

/** A package with all that a check of it found out; `package` is null when there are errors among the problems. */
export interface PackageCheck {
  package: CheckedPackage | null;
  libraries: ResolvedLibraries | null;
  problems: PackageProblem[];
}

/** Checks packages against what is stored: builds of libraries, systems of the version, and definition ids. */
@Injectable()
export class PackageCheckService {
  constructor(
    private readonly packages: PackagesService,
    private readonly libraries: LibrariesService,
    private readonly systems: SystemsImportService,
    private readonly states: SystemStatesService,
    private readonly rights: LibraryRightsService,
  ) {}

  /** Not inside of a transaction. */
  async check(version: AppVersionKey, document: unknown): Promise<PackageCheck> {
    const { appId } = version;
    const parsed = this.packages.parse(document);
    if (parsed.package === null) {
      const others = await this.packages.checkParts(parsed.readable, appId);
      return { package: null, libraries: null, problems: [...parsed.problems, ...others] };
    }
    const { application } = parsed.package;
    const libraries = await this.libraries.resolve(appId, application.libraries);
    const definitionIds = await this.definitionIds(appId, parsed.package);
    const registered = (await this.states.ofVersion(version)).filter(({ type }) => type === SystemType.Mcp);
    const context = { appId, libraries: libraries.direct, definitionIds, registered };
    const checked = await this.packages.check(parsed.package, context);
    const problems = [...parsed.problems, ...libraries.problems, ...checked.problems];
    return { package: hasErrors(problems) ? null : checked.checked, libraries, problems };
  }

  /**
   * As `check`, for somebody who wants to store or build the package.
   * @throws LibraryNotUsableError when the application may not use a library that it names: before anything else that is
   * wrong, which could tell what is in the library
   */
  async require(principal: Principal, version: AppVersionKey, document: unknown): Promise<PackageCheck> {
    const checked = await this.check(version, document);
    await this.rights.require(principal, version, checked.libraries?.named ?? []);
    return checked;
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
