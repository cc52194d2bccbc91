import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import type { UserReference } from '../../../common/user/user-reference.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { PackageWorkflow } from '../../packages/model/package.types.js';
import { stamped, type DraftWorkflow } from '../model/draft-workflows.js';
import { AppPackageEntity } from './app-package.entity.js';
import { packText, unpackText } from './packed-text.js';

/** A package to store; `packed` is the JSON of the document, packed, and `workflows` what a check made of its own. */
export interface NewPackage extends AppVersionKey {
  checksum: string;
  packed: string;
  workflows: readonly PackageWorkflow[];
  storedBy: UserReference;
}

/** Rows of application packages, one a version. */
@Injectable()
export class AppPackagesRepository {
  constructor(private readonly clock: Clock) {}

  async find(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<AppPackageEntity | null> {
    return manager.findOneBy(AppPackageEntity, { appId, appVersionId });
  }

  /** The checksum of the package of a version; null when there is none. */
  async checksum(manager: EntityManager, { appId, appVersionId }: AppVersionKey): Promise<string | null> {
    const where = { appId, appVersionId };
    const row = await manager.findOne(AppPackageEntity, {
      select: { appId: true, appVersionId: true, checksum: true },
      where,
    });
    return row?.checksum ?? null;
  }

  /** The checked workflows of a version; null when there is no package, or an earlier release stored it. */
  async workflows(
    manager: EntityManager,
    { appId, appVersionId }: AppVersionKey,
  ): Promise<DraftWorkflow[] | null> {
    const row = await manager.findOne(AppPackageEntity, {
      select: { appId: true, appVersionId: true, workflows: true },
      where: { appId, appVersionId },
    });
    const packed = row?.workflows ?? null;
    return packed === null ? null : (JSON.parse(await unpackText(packed)) as DraftWorkflow[]);
  }

  /** Adds or replaces the package of a version that is open for replacing. */
  async store(
    manager: EntityManager,
    { appId, appVersionId, checksum, packed, workflows, storedBy }: NewPackage,
  ): Promise<void> {
    const storedAt = this.clock.now();
    const before = (await this.workflows(manager, { appId, appVersionId })) ?? [];
    const drafts = stamped(workflows, before, { at: storedAt, by: storedBy });
    const version = { appId, appVersionId };
    await manager.delete(AppPackageEntity, version);
    await manager.insert(AppPackageEntity, {
      ...version,
      checksum,
      document: packed,
      workflows: await packText(JSON.stringify(drafts)),
      storedAt,
      storedBy,
    });
  }
}
