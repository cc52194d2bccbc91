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
import { AppVersions, placeOf } from './app-versions.repository.js';
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

/** Which applications and versions there are (docs/contract.md, section 6), and what may be done to a version. */
@Injectable()
export class AppsService {
  constructor(
    private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /** A page of the applications that a caller may deliver, by id: behind the id `after`. */
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

  /** A page of the versions of an application, newest first. */
  async versionsOf(query: VersionsQuery): Promise<Page<StoredVersion>> {
    return readPage(
      query.limit ?? pageLimits.size,
      (limit) => this.database.read((manager) => AppVersions.page(manager, query, limit)),
      placeOf,
    );
  }

  /** @throws VersionNotFoundError when nothing was ever stored for it. Not inside of a transaction. */
  async requireKnown(version: AppVersionKey): Promise<void> {
    const [stored] = await this.database.read((manager) => AppVersions.find(manager, [version]));
    if (stored === undefined) {
      throw new VersionNotFoundError();
    }
  }

  /**
   * To be called first in every transaction that writes into a version. A version comes into being with its first
   * resource, and it cannot be committed while the transaction runs.
   * @throws VersionCommittedError when it is read-only
   */
  async openForWriting(manager: EntityManager, version: AppVersionKey): Promise<void> {
    await this.open(manager, version, 'pessimistic_read');
  }

  /**
   * As `openForWriting`, for a transaction that replaces what is in the version: nobody else writes into it meanwhile.
   * @throws VersionCommittedError when it is read-only
   */
  async openForReplacing(manager: EntityManager, version: AppVersionKey): Promise<void> {
    await this.open(manager, version, 'pessimistic_write');
  }

  /**
   * Begins a commit: nobody writes into the version until the transaction ends.
   * @throws VersionNotFoundError when nothing is stored for it, VersionCommittedError when that was done before
   */
  async openForCommit(manager: EntityManager, version: AppVersionKey): Promise<void> {
    mustBeDraft(await AppVersions.lockState(manager, version, 'pessimistic_write'));
  }

  /**
   * As `openForCommit`, without keeping it so.
   * @throws VersionNotFoundError, VersionCommittedError
   */
  async requireDraft(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const [stored] = await AppVersions.find(manager, [version]);
    mustBeDraft(stored?.state ?? null);
  }

  /** Makes a version that was opened for it read-only for ever. @returns when */
  async commit(manager: EntityManager, version: AppVersionKey): Promise<Date> {
    const now = this.clock.now();
    await AppVersions.markCommitted(manager, version, now);
    return now;
  }

  /**
   * Makes sure that a version can no longer change.
   * @throws VersionNotFoundError when nothing is stored for it, VersionNotCommittedError when it is a draft
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

  /** Makes these the libraries of a version that is open for replacing. @returns whether that changed anything */
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

  /** Whether the version may be written to, kept so until the transaction ends. Nothing stored counts as yes. */
  async isWritable(manager: EntityManager, version: AppVersionKey): Promise<boolean> {
    return (await AppVersions.lockState(manager, version, 'pessimistic_read')) !== AppVersionState.Committed;
  }

  /** What the manifest records about versions; a version that holds nothing is missing. */
  async statuses(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return AppVersions.find(manager, versions);
  }

  /** The versions that a version depends on. Types that we do not know add nothing. */
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

/** @param state null when nothing is stored for the version */
function mustBeDraft(state: AppVersionState | null): void {
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

/** Ids hold no spaces. */
function keyOf({ appId, appVersionId }: AppVersionKey): string {
  return `${appId} ${appVersionId}`;
}
