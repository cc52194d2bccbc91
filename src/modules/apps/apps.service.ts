import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { AppVersionsRepository } from './app-versions.repository.js';
import { VersionCommittedError } from './apps.errors.js';
import { AppVersionState, DependencyType, type AppVersionKey, type AppVersionStatus } from './apps.types.js';

/** What may be done to an application version. */
@Injectable()
export class AppsService {
  constructor(
    private readonly versions: AppVersionsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * To be called first in every transaction that writes into a version. A version comes into being with its first
   * resource, and it cannot be committed while the transaction runs.
   * @throws VersionCommittedError when it is read-only
   */
  async openForWriting(manager: EntityManager, version: AppVersionKey): Promise<void> {
    let state = await this.versions.lockState(manager, version);
    if (state === null) {
      await this.versions.addDraft(manager, version, this.clock.now());
      state = await this.versions.lockState(manager, version);
    }
    if (state !== AppVersionState.Draft) {
      throw new VersionCommittedError();
    }
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
}
