import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Permission } from '../platform/auth/permission.js';
import { Clock } from '../platform/clock.js';
import { readPage, type Page } from '../platform/validation/page.js';
import { appsOf } from '../platform/user/grant.js';
import type { Principal } from '../platform/user/principal.js';
import { pageLimits } from '../platform/validation/page.limits.js';
import { Database } from '../store/database.js';
import type { HeldLock } from '../store/tables/row-locks.js';
import { readApplications } from './applications.statements.js';
import { AppVersions, cursorOf } from './app-versions.repository.js';
import { VersionCommittedError, VersionNotCommittedError, VersionNotFoundError } from './apps.errors.js';
import {
  AppVersionState,
  DependencyType,
  type AppVersionKey,
  type AppVersionStatus,
  type StoredVersion,
  type VersionsQuery,
} from './apps.types.js';
import type { ListedApplicationDto } from './reading/application.dto.js';

/** Lists applications and versions (docs/contract.md, section 6) and guards writes to versions. */
@Injectable()
export class AppsService {
  constructor(
    private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /** Returns a page of the applications that a caller may deliver, by id, starting after the id `after`. */
  async applications(
    principal: Principal,
    { after, limit = pageLimits.size }: { after?: string; limit?: number },
  ): Promise<Page<ListedApplicationDto>> {
    const apps = appsOf(principal, Permission.ApplicationDelivery);
    return readPage(
      limit,
      (rows) => this.database.read((manager) => readApplications(manager, after, apps, rows)),
      ({ applicationId }) => applicationId,
    );
  }

  /** Returns a page of the versions of an application, newest first. */
  async versionsOf(query: VersionsQuery): Promise<Page<StoredVersion>> {
    return readPage(
      query.limit ?? pageLimits.size,
      (limit) => this.database.read((manager) => AppVersions.page(manager, query, limit)),
      cursorOf,
    );
  }

  /** Checks that a version exists. Call it outside transactions. @throws VersionNotFoundError */
  async requireKnown(version: AppVersionKey): Promise<void> {
    const [stored] = await this.database.read((manager) => AppVersions.find(manager, [version]));
    if (stored === undefined) {
      throw new VersionNotFoundError();
    }
  }

  /**
   * Opens a version for writing, creating it if necessary. Call it first in every transaction that writes to a version: it blocks a
   * commit of the version until the transaction ends.
   * @throws VersionCommittedError when the version is read-only
   */
  async openForWriting(manager: EntityManager, version: AppVersionKey): Promise<void> {
    await this.open(manager, version, 'pessimistic_read');
  }

  /**
   * Like `openForWriting`, and blocks other writers too, for a transaction that replaces the content of the version.
   * @throws VersionCommittedError when the version is read-only
   */
  async openForReplacing(manager: EntityManager, version: AppVersionKey): Promise<void> {
    await this.open(manager, version, 'pessimistic_write');
  }

  /**
   * Locks a draft for its commit: all writers wait until the transaction ends.
   * @throws VersionNotFoundError, VersionCommittedError
   */
  async openForCommit(manager: EntityManager, version: AppVersionKey): Promise<void> {
    assertDraft(await AppVersions.lockState(manager, version, 'pessimistic_write'));
  }

  /**
   * Checks that a version is a draft, without locking it.
   * @throws VersionNotFoundError, VersionCommittedError
   */
  async requireDraft(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const [stored] = await AppVersions.find(manager, [version]);
    assertDraft(stored?.state ?? null);
  }

  /** Commits a version after `openForCommit`. @returns the time of the commit */
  async commit(manager: EntityManager, version: AppVersionKey): Promise<Date> {
    const now = this.clock.now();
    await AppVersions.markCommitted(manager, version, now);
    return now;
  }

  /**
   * Checks that a version is committed.
   * @throws VersionNotFoundError, VersionNotCommittedError when it is a draft
   */
  async requireCommitted(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const [stored] = await AppVersions.find(manager, [version]);
    if (stored === undefined) {
      throw new VersionNotFoundError();
    }
    if (stored.state !== AppVersionState.Committed) {
      throw new VersionNotCommittedError();
    }
  }

  /** Replaces the libraries of a version after `openForReplacing`. @returns whether anything changed */
  async replaceLibraries(
    manager: EntityManager,
    version: AppVersionKey,
    libraries: AppVersionKey[],
  ): Promise<boolean> {
    const stored = await AppVersions.dependencies(manager, version, [DependencyType.Library]);
    if (sameVersions(stored, libraries)) {
      return false;
    }
    await AppVersions.replaceDependencies(manager, version, DependencyType.Library, libraries);
    return true;
  }

  /** Returns whether a version is writable, and locks its state until the transaction ends. A new version is writable. */
  async isWritable(manager: EntityManager, version: AppVersionKey): Promise<boolean> {
    return (await AppVersions.lockState(manager, version, 'pessimistic_read')) !== AppVersionState.Committed;
  }

  /** Returns state and commit time of versions; versions that do not exist are omitted. */
  async statuses(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return AppVersions.find(manager, versions);
  }

  /** Finds the versions that a version depends on. Unknown types are ignored. */
  async dependencies(
    manager: EntityManager,
    version: AppVersionKey,
    types: string[],
  ): Promise<AppVersionKey[]> {
    const known = Object.values(DependencyType).filter((type) => types.includes(type));
    return known.length === 0 ? [] : AppVersions.dependencies(manager, version, known);
  }

  private async open(manager: EntityManager, version: AppVersionKey, lock: HeldLock): Promise<void> {
    let state = await AppVersions.lockState(manager, version, lock);
    if (state === null) {
      await AppVersions.addDraft(manager, version, this.clock.now());
      state = await AppVersions.lockState(manager, version, lock);
    }
    if (state !== AppVersionState.Draft) {
      throw new VersionCommittedError();
    }
  }
}

/** @param state null when the version does not exist */
function assertDraft(state: AppVersionState | null): void {
  if (state === null) {
    throw new VersionNotFoundError();
  }
  if (state === AppVersionState.Committed) {
    throw new VersionCommittedError();
  }
}

function sameVersions(some: AppVersionKey[], others: AppVersionKey[]): boolean {
  const keys = new Set(some.map(keyOf));
  return keys.size === others.length && others.every((other) => keys.has(keyOf(other)));
}

/** Returns a unique key; ids contain no spaces. */
function keyOf({ appId, appVersionId }: AppVersionKey): string {
  return `${appId} ${appVersionId}`;
}
