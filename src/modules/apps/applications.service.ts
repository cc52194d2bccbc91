import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Permission } from '../../common/auth/permission.js';
import { ValidationFailedError } from '../../common/errors/request.errors.js';
import { readPage, type Page, type PageQuery } from '../../common/page.js';
import { appsOf } from '../../common/user/grant.js';
import type { Principal } from '../../common/user/principal.js';
import { Env } from '../../config/env.js';
import { Database } from '../../database/database.js';
import { AppVersionsRepository } from './app-versions.repository.js';
import type { ListedApplication, StoredVersion, VersionsFilter } from './apps.types.js';

/** Which versions, and which page of them: behind the version `before`. */
type VersionsQuery = VersionsFilter & PageQuery;

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
      (rows) => this.database.readOld((manager) => this.versions.applications(manager, after, apps, rows)),
      ({ appId }) => appId,
    );
  }

  /**
   * A page of the versions of an application, newest first.
   * @throws ValidationFailedError when `before` is no version of it
   */
  async versionsOf({ before, limit, ...filter }: VersionsQuery): Promise<Page<StoredVersion>> {
    return readPage(
      limit ?? this.env.get('APPLICATION_PAGE_SIZE'),
      (rows) => this.database.readOld((manager) => this.behind(manager, filter, before, rows)),
      ({ appVersionId }) => appVersionId,
    );
  }

  private async behind(
    manager: EntityManager,
    filter: VersionsFilter,
    before: string | undefined,
    limit: number,
  ): Promise<StoredVersion[]> {
    if (before === undefined) {
      return this.versions.page(manager, filter, undefined, limit);
    }
    const [last] = await this.versions.find(manager, [{ appId: filter.appId, appVersionId: before }]);
    if (last === undefined) {
      throw new ValidationFailedError([{ field: 'before', rule: 'must be the next of a page' }]);
    }
    return this.versions.page(manager, filter, last, limit);
  }
}
