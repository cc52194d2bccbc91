import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { asReplay } from '../../../platform/http/replays.js';
import type { Principal } from '../../../platform/user/principal.js';
import { Database } from '../../../store/database.js';
import { AppsService } from '../../../apps/apps.service.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { repeatKey, type RepeatKey } from '../../../idempotency/idempotency-key.dto.js';
import { RepeatTakenError } from '../../../idempotency/repeats.errors.js';
import { BuildReadsService } from '../contents/build-reads.service.js';
import type { BuildManifest, MadeBuild } from '../model/builds.types.js';
import { BuildRepeats } from '../storage/builds.repository.js';
import { BuildMaker } from './build-maker.js';
import { BuildWarningsService } from './build-warnings.service.js';

/** Makes builds: immutable snapshots of committed versions (docs/contract.md, section 6). A version can have several. */
@Injectable()
export class BuildsService {
  constructor(
    private readonly database: Database,
    private readonly apps: AppsService,
    private readonly maker: BuildMaker,
    private readonly reads: BuildReadsService,
    private readonly warnings: BuildWarningsService,
  ) {}

  /**
   * Makes a build of a version and its tools in their current state. A repeated call with the same Idempotency-Key returns the first build.
   * @throws VersionNotFoundError, VersionNotCommittedError
   * @throws ValidationFailedError when the key is invalid
   * @throws LibraryNotUsableError when the application must not use one of its libraries
   * @throws PackageOutdatedError when this release of the service no longer accepts the package
   */
  async create(principal: Principal, version: AppVersionKey, idempotencyKey?: string): Promise<MadeBuild> {
    const { appId, appVersionId } = version;
    const repeat = repeatKey(principal, ['build', appId, appVersionId], idempotencyKey, {});
    await this.database.read((manager) => this.apps.requireCommitted(manager, version));
    const earlier = repeat === undefined ? undefined : await this.findMade(appId, repeat);
    if (earlier !== undefined) {
      return earlier;
    }
    const make = async (): Promise<MadeBuild> =>
      this.withWarnings(await this.maker.make(principal, version, repeat));
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof RepeatTakenError) || repeat === undefined) {
        throw error;
      }
    }
    // The record may have expired between the two statements, which makes this a first call again.
    return (await this.findMade(appId, repeat)) ?? make();
  }

  /** Removes the records of at most `limit` calls that made builds before a time, and returns their number. */
  async removeRepeatsBefore(manager: EntityManager, time: Date, limit: number): Promise<number> {
    return BuildRepeats.removeBefore(manager, time, limit);
  }

  /** Returns the build that an earlier call has made, as a replay. */
  private async findMade(appId: string, { keyHash }: RepeatKey): Promise<MadeBuild | undefined> {
    const buildId = await this.database.read((manager) => BuildRepeats.find(manager, keyHash));
    return buildId === undefined
      ? undefined
      : asReplay(await this.withWarnings(await this.reads.manifest(appId, buildId)));
  }

  private async withWarnings(manifest: BuildManifest): Promise<MadeBuild> {
    return { ...manifest, warnings: await this.warnings.of(manifest) };
  }
}
