import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import type { BuildDraft } from './build-draft.types.js';
import { PackageOutdatedError } from '../model/builds.errors.js';
import { emptyPackage } from '../model/empty-package.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import { ProcessNumbers } from '../storage/process-numbers.js';
import { resourceId } from '../../../common/resource-ids.js';

/** Turns the package of a committed version into the rows of a build. */
@Injectable()
export class BuildDraftsService {
  constructor(
    private readonly stored: AppPackagesService,
    private readonly checks: PackageCheckService,
    private readonly numbers: ProcessNumbers,
  ) {}

  /**
   * Not inside of a transaction; what it reads of a committed version cannot change.
   * @throws PackageOutdatedError, LibraryNotUsableError
   */
  async of(principal: Principal, version: AppVersionKey): Promise<BuildDraft> {
    const { json, checksum } = (await this.stored.text(version)) ?? emptyPackage(version);
    const checked = await this.checks.require(principal, version, json, {
      forBuild: (svcUuid, nodes) => this.numbers.of(svcUuid, nodes),
    });
    if (checked.package === null || checked.libraries === null) {
      throw new PackageOutdatedError(checked.problems, 'deliver it, mended, to another version');
    }
    return {
      packageChecksum: checksum,
      settings: checked.package.application.settings,
      definitions: checked.graphs.map((graph) => ({
        ...graph,
        resourceId: resourceId(version, graph.svcUuid),
      })),
      workflows: checked.package.workflows,
      libraries: checked.libraries.tree,
      named: checked.libraries.named,
      usableBy: checked.package.application.usableBy ?? null,
      systemsUsableBy: checked.package.application.systemsUsableBy ?? null,
    };
  }
}
