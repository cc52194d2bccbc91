import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { Database } from '../../database/database.js';
import { AppVersionsRepository } from './app-versions.repository.js';
import { VersionCommittedError, VersionNotCommittedError, VersionNotFoundError } from './apps.errors.js';
import { AppVersionState, DependencyType, type AppVersionKey, type AppVersionStatus } from './apps.types.js';

/** What may be done to an application version. */
@Injectable()
export class AppsService {
  constructor(
    private readonly versions: AppVersionsRepository,
    private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /** @throws VersionNotFoundError when nothing was ever stored for it. Not inside of a transaction. */
  async requireKnown(version: AppVersionKey): Promise<void> {
    const [stored] = await this.database.read((manager) => this.versions.find(manager, [version]));
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
    mustBeDraft(await this.versions.lockState(manager, version, 'pessimistic_write'));
  }

  /**
   * As `openForCommit`, without keeping it so.
   * @throws VersionNotFoundError, VersionCommittedError
   */
  async requireDraft(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const [stored] = await this.versions.find(manager, [version]);
    mustBeDraft(stored?.state ?? null);
  }

  /** Makes a version that was opened for it read-only for ever. @returns when */
  async commit(manager: EntityManager, version: AppVersionKey): Promise<Date> {
    const now = this.clock.now();
    await this.versions.markCommitted(manager, version, now);
    return now;
  }

  /**
   * Makes sure that a version can no longer change.
   * @throws VersionNotFoundError when nothing is stored for it, VersionNotCommittedError when it is a draft
   */
  async requireCommitted(manager: EntityManager, version: AppVersionKey): Promise<void> {
    const [stored] = await this.versions.find(manager, [version]);
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
    const stored = await this.versions.dependencies(manager, version, [DependencyType.Library]);
    if (sameVersions(stored, libraries)) {
      return false;
    }
    await this.versions.removeDependencies(manager, version, DependencyType.Library);
    await this.versions.addDependencies(manager, version, DependencyType.Library, libraries);
    return true;
  }

  /** Whether the version may be written to, kept so until the transaction ends. Nothing stored counts as yes. */
  async isWritable(manager: EntityManager, version: AppVersionKey): Promise<boolean> {
    return (await this.versions.lockState(manager, version)) !== AppVersionState.Committed;
  }

  /** What the manifest records about versions; a version that holds nothing is missing. */
  async statuses(manager: EntityManager, versions: AppVersionKey[]): Promise<AppVersionStatus[]> {
    return this.versions.find(manager, versions);
  }

  /** The versions that a version depends on. Types that we do not know add nothing. */
  async dependencies(
    manager: EntityManager,
    version: AppVersionKey,
    types: string[],
  ): Promise<AppVersionKey[]> {
    const known = Object.values(DependencyType).filter((type) => types.includes(type));
    return known.length === 0 ? [] : this.versions.dependencies(manager, version, known);
  }

  private async open(
    manager: EntityManager,
    version: AppVersionKey,
    mode: 'pessimistic_read' | 'pessimistic_write',
  ): Promise<void> {
    let state = await this.versions.lockState(manager, version, mode);
    if (state === null) {
      await this.versions.addDraft(manager, version, this.clock.now());
      state = await this.versions.lockState(manager, version, mode);
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
