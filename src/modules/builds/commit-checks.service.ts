import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { nameKey } from '../../common/validation/resource-name.js';
import type { AppVersionKey } from '../apps/apps.types.js';
import { PackagesService } from '../packages/packages.service.js';
import { SystemsImportService } from '../systems/systems-import.service.js';
import { AppPackagesService } from './app-packages.service.js';
import { PackageSystemsMissingError } from './builds.errors.js';
import { agentNodes } from './draft-workflows.js';

/** What must hold of a version before it is committed. */
@Injectable()
export class CommitChecksService {
  constructor(
    private readonly stored: AppPackagesService,
    private readonly packages: PackagesService,
    private readonly systems: SystemsImportService,
  ) {}

  /**
   * A system of the package, or one that its workflows use, can have been deleted by the interface; a committed version could
   * never be mended.
   * @throws PackageSystemsMissingError
   */
  async requireSystems(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const stored = await this.stored.read(manager, version);
    const named = stored === null ? [] : (this.packages.parse(stored.document).package?.systems ?? []);
    const used = agentNodes(stored?.workflows ?? []).flatMap(({ node }) => node.aiOptions?.mcpServers ?? []);
    const names = new Set([
      ...named.map(({ resourceName }) => resourceName),
      ...used.filter(({ appId }) => appId === version.appId).map(({ resourceName }) => resourceName ?? ''),
    ]);
    if (names.size === 0) {
      return;
    }
    const present = await this.systems.idsByName(manager, version);
    const missing = [...names].filter((name) => !present.has(nameKey(name)));
    if (missing.length > 0) {
      throw new PackageSystemsMissingError(missing);
    }
  }
}
