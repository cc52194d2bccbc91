import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../../platform/clock.js';
import { orderedUuid } from '../../../platform/ordered-uuid.js';
import { resourceId } from '../../../platform/validation/resource-ids.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import { IdBlocks } from '../../../store/ids/id-blocks.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AuditAction, AuditOutcome } from '../../../audit/model/audit.types.js';
import { AuditService } from '../../../audit/recording/audit.service.js';
import type { PackageApplication } from '../../packages/model/package.types.js';
import type { RepeatKey } from '../../../idempotency/idempotency-key.dto.js';
import { RepeatTakenError } from '../../../idempotency/repeats.errors.js';
import { buildChecksum, emptyPackage } from '../contents/build-checksum.js';
import { LibrariesService, type ResolvedLibraries } from '../libraries/libraries.service.js';
import { PackageOutdatedError } from '../model/builds.errors.js';
import { BuildStatus, type BuildManifest, type IndirectLibrary } from '../model/builds.types.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import { storedPackage } from '../packages/stored-packages.js';
import { BuildContents, type NewDefinition, type NewWorkflow } from '../storage/build-contents.repository.js';
import type { BuildEntity } from '../storage/build.entity.js';
import { BuildRepeats, Builds } from '../storage/builds.repository.js';
import { numbersOf } from '../storage/process-numbers.js';

/** What a build takes from the package of its version. */
interface BuildDraft {
  buildId: string;
  version: AppVersionKey;
  packageChecksum: string;
  application: PackageApplication;
  definitions: Omit<NewDefinition, 'id' | 'buildId'>[];
  workflows: Omit<NewWorkflow, 'buildId'>[];
  libraries: ResolvedLibraries;
}

/** Makes a build in one transaction, and records the call that made it. */
@Injectable()
export class BuildMaker {
  constructor(
    private readonly database: Database,
    private readonly checks: PackageCheckService,
    private readonly ids: IdBlocks,
    private readonly audit: AuditService,
    private readonly libraries: LibrariesService,
    private readonly clock: Clock,
  ) {}

  /**
   * @param repeat key of a call that may be repeated
   * @throws RepeatTakenError when the same call was already made
   * @throws LibraryNotUsableError, PackageOutdatedError, see `BuildsService.create`
   */
  async make(
    principal: Principal,
    version: AppVersionKey,
    repeat: RepeatKey | undefined,
  ): Promise<BuildManifest> {
    const draft = await this.draftOf(principal, version);
    const firstId = await this.ids.next('build-definition', Math.max(draft.definitions.length, 1));
    return this.database.write(async (manager) => {
      if (repeat !== undefined) {
        const made = { keyHash: repeat.keyHash, buildId: draft.buildId, createdAt: this.clock.now() };
        // First, so that a repeated call waits here before it has written anything.
        if (!(await BuildRepeats.insert(manager, made))) {
          throw new RepeatTakenError();
        }
      }
      return this.insert(manager, principal, draft, firstId);
    });
  }

  /** Checks the package of a committed version, which cannot change. Not for use inside a transaction. */
  private async draftOf(principal: Principal, version: AppVersionKey): Promise<BuildDraft> {
    const { json, checksum } = (await storedPackage(this.database, version)) ?? emptyPackage(version);
    const { libraries, graphs, problems, ...checked } = await this.checks.require(principal, version, json, {
      forBuild: (svcUuid, nodes) => numbersOf(this.database, this.ids, svcUuid, nodes),
    });
    if (checked.package === null || libraries === null) {
      throw new PackageOutdatedError(problems, 'fix the problems and deliver it to another version');
    }
    const { application, workflows } = checked.package;
    const definitions = graphs.map((graph) => ({ ...graph, resourceId: resourceId(version, graph.svcUuid) }));
    const buildId = orderedUuid(this.clock.now());
    return { buildId, version, packageChecksum: checksum, application, definitions, workflows, libraries };
  }

  /** Stores a build. Runs in a transaction in which nothing that it copies can change. */
  private async insert(
    manager: EntityManager,
    principal: Principal,
    draft: BuildDraft,
    firstId: number,
  ): Promise<BuildManifest> {
    const { buildId, version, libraries } = draft;
    for (const [index, definition] of draft.definitions.entries()) {
      await BuildContents.insertDefinition(manager, { ...definition, id: firstId + index, buildId });
    }
    for (const workflow of draft.workflows) {
      await BuildContents.insertWorkflow(manager, { ...workflow, buildId });
    }
    await BuildContents.insertLibraries(manager, buildId, libraries.tree);
    await BuildContents.copySystems(manager, buildId, version);
    const row = await this.rowOf(manager, principal, draft);
    await Builds.insert(manager, row);
    await this.audit.record(manager, principal, {
      action: AuditAction.BuildCreate,
      outcome: AuditOutcome.Ok,
      ...version,
      details: { buildId, checksum: row.checksum },
    });
    const used = [...libraries.named, ...(await indirect(manager, libraries))];
    await this.libraries.record(manager, principal, version, used, buildId);
    const { settings: _set, usableBy: _use, systemsUsableBy: _lend, activatedAt: _active, ...summary } = row;
    return {
      ...summary,
      resources: await BuildContents.resources(manager, buildId),
      libraries: await BuildContents.libraries(manager, buildId),
    };
  }

  private async rowOf(
    manager: EntityManager,
    principal: Principal,
    { application, libraries, ...draft }: BuildDraft,
  ): Promise<BuildEntity> {
    const { buildId, version } = draft;
    const { settings, usableBy, systemsUsableBy } = application;
    const checksum = await buildChecksum({
      ...draft,
      settings,
      libraries: libraries.tree,
      systems: await BuildContents.systems(manager, buildId),
      tools: await BuildContents.toolFacts(manager, buildId),
    });
    return {
      ...version,
      buildId,
      status: BuildStatus.Committed,
      checksum,
      settings: JSON.stringify(settings),
      usableBy: usableBy === undefined ? null : JSON.stringify(usableBy),
      systemsUsableBy: systemsUsableBy === undefined ? null : JSON.stringify(systemsUsableBy),
      createdAt: this.clock.now(),
      createdBy: principal.user,
      activatedAt: null,
    };
  }
}

/** Returns the indirect libraries: those that only other libraries use. Runs two statements regardless of their number. */
async function indirect(
  manager: EntityManager,
  { named, tree }: ResolvedLibraries,
): Promise<IndirectLibrary[]> {
  const ids = tree.filter(({ level }) => level > 1).map(({ buildId }) => buildId);
  const namedIds = ids.length === 0 ? [] : named.map(({ buildId }) => buildId);
  const rows = await BuildContents.librariesOf(manager, namedIds);
  const builds = await Builds.byIds(manager, ids);
  return builds.map(({ appId, appVersionId, buildId }) => {
    const users = new Set(rows.flatMap((row) => (row.libraryBuildId === buildId ? [row.buildId] : [])));
    const through = named.filter((library) => users.has(library.buildId)).map((library) => library.appId);
    return { appId, appVersionId, buildId, through };
  });
}
