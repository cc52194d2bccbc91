import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { DraftChange } from '../../packages/drafts/draft-workflows.js';
import { PackageRefusedError } from '../model/builds.errors.js';
import { AppPackagesRepository, type PackageState } from '../storage/app-packages.repository.js';
import type { Delivery } from './package-audit.service.js';
import { PackageCheckService, type PackageSource } from './package-check.service.js';

/** Makes packages ready to be stored. What is large of them is made in the package thread; here it is text. */
@Injectable()
export class PackageDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly checks: PackageCheckService,
    private readonly repository: AppPackagesRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * A package that can be stored as long as the version has the package that it has now. Not inside of a transaction.
   * @throws PackageRefusedError naming all that is wrong with it, and what a check throws
   */
  async of(principal: Principal, version: AppVersionKey, source: PackageSource): Promise<Delivery> {
    const seen = { at: this.clock.now(), before: null as PackageState | null };
    const draft = async (): Promise<DraftChange> => {
      const row = await this.database.read((manager) => this.repository.workflows(manager, version));
      seen.at = this.clock.now();
      seen.before = row;
      return { before: row?.workflows ?? null, at: seen.at, by: principal.user };
    };
    const checked = await this.checks.require(principal, version, source, { draft });
    const { package: pkg, libraries, problems } = checked;
    if (pkg === null || pkg.drafts === null || libraries === null) {
      throw new PackageRefusedError(problems);
    }
    const { drafts } = pkg;
    return { version, package: { ...pkg, drafts }, libraries, ...seen, remarks: problems };
  }
}
