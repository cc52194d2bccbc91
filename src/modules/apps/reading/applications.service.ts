import { pageLimits } from '../../../common/validation/page.limits.js';
import { Injectable } from '@nestjs/common';
import { Permission } from '../../../common/auth/permission.js';
import { readPage, type Page } from '../../../common/page.js';
import { appsOf } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { AppVersionsRepository, placeOf } from '../app-versions.repository.js';
import type { ListedApplication, StoredVersion, VersionsQuery } from '../apps.types.js';

/** Which page of the applications: behind the id `after`. */
interface ApplicationsQuery {
  after?: string;
  limit?: number;
}

/** Shows which applications and versions there are (docs/contract.md, section 6). */
@Injectable()
export class ApplicationsService {
  constructor(
    private readonly database: Database,
    private readonly versions: AppVersionsRepository,
  ) {}

  /** A page of the applications that a caller may deliver, by id. */
  async page(principal: Principal, { after, limit }: ApplicationsQuery): Promise<Page<ListedApplication>> {
    const apps = appsOf(principal, Permission.ApplicationDelivery);
    return readPage(
      limit ?? pageLimits.size,
      (rows) => this.database.read((manager) => this.versions.applications(manager, after, apps, rows)),
      ({ appId }) => appId,
    );
  }

  /** A page of the versions of an application, newest first. */
  async versionsOf(query: VersionsQuery): Promise<Page<StoredVersion>> {
    return readPage(
      query.limit ?? pageLimits.size,
      (limit) => this.database.read((manager) => this.versions.page(manager, query, limit)),
      placeOf,
    );
  }
}
