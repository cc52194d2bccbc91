import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { unpackBytes } from '../../../common/packed-text.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { packedIn } from '../../../database/stored-text.js';
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

  /**
   * The workflows of a package that an earlier release stored without them, as `AppPackagesRepository` reads them.
   * @returns null when the package would be refused today
   */
  async draftsAnew(version: AppVersionKey): Promise<Buffer | null> {
    const row = await this.database.read((manager) => this.repository.document(manager, version));
    if (row === null) {
      return null;
    }
    const change: DraftChange = { before: null, at: row.storedAt, by: row.storedBy };
    const json = await unpackBytes(row.document);
    const checked = await this.checks.check(version, json, {
      isStored: true,
      draft: () => Promise.resolve(change),
    });
    const drafts = checked.package?.drafts ?? null;
    return drafts && packedIn(drafts);
  }
}
