import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { orderedUuid } from '../../../common/ordered-uuid.js';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import type { RepeatKey } from '../../repeats/idempotency-key.dto.js';
import { RepeatTakenError } from '../../repeats/repeats.errors.js';
import type { BuildManifest } from '../model/builds.types.js';
import { BuildRepeatsRepository } from '../storage/build-repeats.repository.js';
import { BuildDraftsService } from './build-drafts.service.js';
import { BuildSnapshotsService } from './build-snapshots.service.js';

/** Makes one build in one transaction, and notes in it for which call that was. */
@Injectable()
export class BuildMaker {
  constructor(
    private readonly database: Database,
    private readonly drafts: BuildDraftsService,
    private readonly ids: IdBlocks,
    private readonly snapshots: BuildSnapshotsService,
    private readonly repeats: BuildRepeatsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param repeat of a call that may be sent again
   * @throws RepeatTakenError when an equal call was first
   * @throws LibraryNotUsableError, PackageOutdatedError, see `BuildsService.create`
   */
  async make(
    principal: Principal,
    version: AppVersionKey,
    repeat: RepeatKey | undefined,
  ): Promise<BuildManifest> {
    const draft = await this.drafts.of(principal, version);
    const firstId = await this.ids.next('build-definition', Math.max(draft.definitions.length, 1));
    const build = { buildId: orderedUuid(this.clock.now()), version, draft };
    return this.database.write(async (manager) => {
      if (repeat !== undefined) {
        const made = { keyHash: repeat.keyHash, buildId: build.buildId, createdAt: this.clock.now() };
        // First, so that an equal call that comes second waits here and has written nothing yet.
        if (!(await this.repeats.insert(manager, made))) {
          throw new RepeatTakenError();
        }
      }
      return this.snapshots.insert(manager, principal, build, firstId);
    });
  }
}
