import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AppPackageEntity } from './app-package.entity.js';

/** A package to store: the JSON of its document, and its workflows as a draft holds them, both packed by packText(). */
export type NewPackage = Omit<AppPackageEntity, 'workflows'> & { workflows: string };

/** What tells one stored package of a version from every other one, also from an equal one before. */
export type PackageState = Pick<AppPackageEntity, 'checksum' | 'storedAt'>;

const KEY = { appId: true, appVersionId: true } as const;
const STATE = { ...KEY, checksum: true, storedAt: true } as const;

/** Rows of application packages, one a version. What is packed stays packed here. */
@Injectable()
export class AppPackagesRepository {
  /** The document; null when there is none. */
  async document(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<Omit<AppPackageEntity, 'workflows'> | null> {
    const select = { ...STATE, document: true, storedBy: true } as const;
    return manager.findOne(AppPackageEntity, { select, where: { appId, appVersionId } });
  }

  /** Which package a version has; null when there is none. */
  async state(manager: EntityManager, { appId, appVersionId }: AppVersionKey): Promise<PackageState | null> {
    return manager.findOne(AppPackageEntity, { select: STATE, where: { appId, appVersionId } });
  }

  /** As `state`, with the checked workflows; they are null where an earlier release stored the package. */
  async workflows(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<(PackageState & Pick<AppPackageEntity, 'workflows'>) | null> {
    const select = { ...STATE, workflows: true } as const;
    return manager.findOne(AppPackageEntity, { select, where: { appId, appVersionId } });
  }

  /** Adds or replaces the package of a version that is open for replacing. */
  async store(manager: EntityManager, pkg: NewPackage): Promise<void> {
    const { appId, appVersionId } = pkg;
    await manager.delete(AppPackageEntity, { appId, appVersionId });
    await manager.insert(AppPackageEntity, pkg);
  }
}
