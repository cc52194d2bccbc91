import { Injectable } from '@nestjs/common';
import { Database } from '../../../store/database.js';
import { nameKey } from '../../../platform/validation/resource-name.js';
import type { SystemType } from '../../../systems/model/system.types.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import { BuildScopes } from './build-scopes.js';
import { BuildSeals } from './build-seals.service.js';
import type { BuildSystemEntity, BuildToolEntity } from '../storage/build.entity.js';

/** Reference to a system of a build or of one of its libraries: by definition id if known, else by resource name. */
export interface SystemReference {
  /** Null for the application of the build. */
  appId: string | null;
  resourceDefinitionId: string | null;
  resourceName: string | null;
}

/** A system as it was when the build was made. `buildId` is that of the library which contains it. */
export type BuildSystem = Readonly<BuildSystemEntity> & { readonly appId: string };

/** A tool as it was when the build was made: what models may see of it, and whether it was enabled. */
export type BuildTool = Readonly<BuildToolEntity>;

/** Provides systems and tools of builds to the components that call them (docs/contract.md, section 6). Builds never change. */
@Injectable()
export class BuildSystemsService {
  constructor(
    private readonly database: Database,
    private readonly scopes: BuildScopes,
    private readonly seals: BuildSeals,
  ) {}

  /**
   * Finds a system of a build, or of a library in the same build (docs/agents.md). Not for use inside a transaction.
   * @returns null when the build has no system of this name and type, or the library must not be called now
   * @throws BuildNotFoundError, BuildDamagedError
   */
  async find(buildId: string, reference: SystemReference, type: SystemType): Promise<BuildSystem | null> {
    // Without an application the build itself comes first; a build contains each library at most once.
    const [scope] = await this.scopes.candidates(buildId, reference.appId);
    if (scope === undefined) {
      return null;
    }
    const systems = await this.database.read((manager) => BuildContents.systems(manager, scope.buildId));
    const found = systems.find((system) => system.type === type && isNamed(system, reference));
    if (found === undefined || (await this.scopes.refusalOf(buildId, scope)) !== undefined) {
      return null;
    }
    await this.seals.verifySystems(scope.buildId, systems);
    return { ...found, appId: scope.appId };
  }

  /** Returns the systems of a build itself, without its libraries. Not for use inside a transaction. @throws BuildDamagedError */
  async own(buildId: string, appId: string, type: SystemType): Promise<BuildSystem[]> {
    const systems = await this.database.read((manager) => BuildContents.systems(manager, buildId));
    await this.seals.verifySystems(buildId, systems);
    return systems.filter((system) => system.type === type).map((system) => ({ ...system, appId }));
  }

  /**
   * Returns the tools of a system of a build, in the order in which its server listed them. Not for use inside a transaction.
   * @throws BuildDamagedError
   */
  async tools({ buildId, systemId }: Pick<BuildSystem, 'buildId' | 'systemId'>): Promise<BuildTool[]> {
    const tools = await this.database.read((manager) => BuildContents.tools(manager, buildId, systemId));
    await this.seals.verifyTools(buildId, tools);
    return tools;
  }
}

function isNamed(
  system: Pick<BuildSystemEntity, 'resourceDefinitionId' | 'resourceName'>,
  { resourceDefinitionId, resourceName }: SystemReference,
): boolean {
  return resourceDefinitionId === null
    ? resourceName !== null && nameKey(system.resourceName) === nameKey(resourceName)
    : system.resourceDefinitionId === resourceDefinitionId;
}
