import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../../common/user/principal.js';
import { Clock } from '../../../common/clock.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditService } from '../../audit/recording/audit.service.js';
import { AuditAction, AuditOutcome } from '../../audit/model/audit.types.js';
import { buildChecksum } from '../contents/build-checksum.js';
import { BuildContentsRepository } from '../storage/build-contents.repository.js';
import type { BuildDraft } from './build-draft.types.js';
import { BuildsRepository } from '../storage/builds.repository.js';
import { LibraryRightsService } from '../libraries/library-rights.service.js';
import { BuildStatus, type BuildManifest, type IndirectLibrary } from '../model/builds.types.js';
import type { BuildEntity } from '../storage/build.entity.js';

/** A build that is being made. */
export interface NewBuild {
  buildId: string;
  version: AppVersionKey;
  draft: BuildDraft;
}

/** Writes builds. */
@Injectable()
export class BuildSnapshotsService {
  constructor(
    private readonly builds: BuildsRepository,
    private readonly contents: BuildContentsRepository,
    private readonly audit: AuditService,
    private readonly rights: LibraryRightsService,
    private readonly clock: Clock,
  ) {}

  /** Stores a build: part of a transaction, in which nothing else can change what it copies. */
  async insert(
    manager: EntityManager,
    principal: Principal,
    build: NewBuild,
    firstId: number,
  ): Promise<BuildManifest> {
    const { buildId, version, draft } = build;
    for (const [index, definition] of draft.definitions.entries()) {
      await this.contents.insertDefinition(manager, { ...definition, id: firstId + index, buildId });
    }
    for (const workflow of draft.workflows) {
      await this.contents.insertWorkflow(manager, { ...workflow, buildId });
    }
    await this.contents.insertLibraries(manager, buildId, draft.libraries);
    await this.contents.copySystems(manager, buildId, version);
    const row = await this.rowOf(manager, principal, build);
    await this.builds.insert(manager, row);
    await this.record(manager, principal, row);
    await this.rights.record(manager, principal, version, draft.named, buildId);
    const indirect = await this.indirect(manager, draft);
    await this.rights.record(manager, principal, version, indirect, buildId);
    const { settings: _set, usableBy: _use, systemsUsableBy: _lend, activatedAt: _active, ...summary } = row;
    return {
      ...summary,
      resources: await this.contents.resources(manager, buildId),
      libraries: await this.contents.libraries(manager, buildId),
    };
  }

  /** The libraries that only libraries bring. Two statements, however many there are. */
  private async indirect(
    manager: EntityManager,
    { named, libraries }: BuildDraft,
  ): Promise<IndirectLibrary[]> {
    const ids = libraries.filter(({ level }) => level > 1).map(({ buildId }) => buildId);
    if (ids.length === 0) {
      return [];
    }
    const bringers = await this.contents.broughtBy(
      manager,
      named.map(({ buildId }) => buildId),
    );
    const builds = await this.builds.byIds(manager, ids, ids.length);
    return builds.map(({ appId, appVersionId, buildId }) => {
      const brought = new Set(bringers.get(buildId));
      const through = named.filter((library) => brought.has(library.buildId)).map((library) => library.appId);
      return { appId, appVersionId, buildId, through };
    });
  }

  private async rowOf(
    manager: EntityManager,
    principal: Principal,
    { buildId, version, draft }: NewBuild,
  ): Promise<BuildEntity> {
    const { usableBy, systemsUsableBy } = draft;
    const checksum = await buildChecksum({
      ...draft,
      version,
      systems: await this.contents.systems(manager, buildId),
      tools: await this.contents.toolFacts(manager, buildId),
    });
    return {
      appId: version.appId,
      appVersionId: version.appVersionId,
      buildId,
      status: BuildStatus.Committed,
      checksum,
      settings: JSON.stringify(draft.settings),
      usableBy: usableBy === null ? null : JSON.stringify(usableBy),
      systemsUsableBy: systemsUsableBy === null ? null : JSON.stringify(systemsUsableBy),
      createdAt: this.clock.now(),
      createdBy: principal.user,
      activatedAt: null,
    };
  }

  private async record(
    manager: EntityManager,
    principal: Principal,
    { appId, appVersionId, buildId, checksum }: BuildEntity,
  ): Promise<void> {
    await this.audit.record(manager, principal, {
      action: AuditAction.BuildCreate,
      outcome: AuditOutcome.Ok,
      appId,
      appVersionId,
      details: { buildId, checksum },
    });
  }
}
