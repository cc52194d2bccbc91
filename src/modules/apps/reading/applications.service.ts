import { Injectable } from '@nestjs/common';
import { Permission } from '../../../common/auth/permission.js';
import { readPage, type Page } from '../../../common/page.js';
import { appsOf } from '../../../common/user/grant.js';
import type { Principal } from '../../../common/user/principal.js';
import { Env } from '../../../config/env.js';
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
    private readonly env: Env,
  ) {}

  /** A page of the applications that a caller may deliver, by id. */
  async page(principal: Principal, { after, limit }: ApplicationsQuery): Promise<Page<ListedApplication>> {
    const apps = appsOf(principal, Permission.ApplicationDelivery);
    return readPage(
      limit ?? this.env.get('APPLICATION_PAGE_SIZE'),
      (rows) => this.database.read((manager) => this.versions.applications(manager, after, apps, rows)),
      ({ appId }) => appId,
    );
  }

  /** A page of the versions of an application, newest first. */
  async versionsOf(query: VersionsQuery): Promise<Page<StoredVersion>> {
    return readPage(
      query.limit ?? this.env.get('APPLICATION_PAGE_SIZE'),
      (limit) => this.database.read((manager) => this.versions.page(manager, query, limit)),
      placeOf,
    );
  }
}
