import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../common/user/principal.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { PackageProblem } from '../../packages/model/package.types.js';
import { PackageNotFoundError } from '../model/builds.errors.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import { BuildWarningsService } from './build-warnings.service.js';

/** What is wrong with a package that is stored: libraries, systems and agents can have changed since. */
@Injectable()
export class PackageProblemsService {
  constructor(
    private readonly stored: AppPackagesService,
    private readonly checks: PackageCheckService,
    private readonly warnings: BuildWarningsService,
  ) {}

  /**
   * Checks the package of a version as a commit would, and warns as a build would; nothing is changed.
   * @throws PackageNotFoundError
   * @throws LibraryNotUsableError when the application must not use a library that it names
   * @throws PackageChecksBusyError when too many packages wait for their check
   */
  async of(principal: Principal, version: AppVersionKey): Promise<PackageProblem[]> {
    const stored = await this.stored.text(version);
    if (stored === null) {
      throw new PackageNotFoundError();
    }
    const { problems } = await this.checks.require(principal, version, stored.json, {
      isOnlyRead: true,
    });
    return [...problems, ...(await this.warnings.of({ ...version, buildId: null }))];
  }
}
