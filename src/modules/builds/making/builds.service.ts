import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../../common/user/principal.js';
import { Database } from '../../../database/database.js';
import { IdBlocks } from '../../../database/id-blocks.js';
import { AppsService } from '../../apps/apps.service.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { BuildSnapshotsService } from './build-snapshots.service.js';
import { BuildDraftsService } from './build-drafts.service.js';
import { BuildWarningsService } from './build-warnings.service.js';
import type { MadeBuild } from '../model/builds.types.js';

/** Makes builds: immutable snapshots of committed versions (docs/contract.md, section 6). A version can have several. */
@Injectable()
export class BuildsService {
  constructor(
    private readonly database: Database,
    private readonly apps: AppsService,
    private readonly drafts: BuildDraftsService,
    private readonly ids: IdBlocks,
    private readonly snapshots: BuildSnapshotsService,
    private readonly warnings: BuildWarningsService,
  ) {}

  /**
   * Makes a build of a version as it and its tools are now.
   * @throws VersionNotFoundError, VersionNotCommittedError
   * @throws LibraryNotUsableError when the application must not use a library of it
   * @throws PackageOutdatedError when this release of the service no longer takes the package
   */
  async create(principal: Principal, version: AppVersionKey): Promise<MadeBuild> {
    await this.database.read((manager) => this.apps.requireCommitted(manager, version));
    const draft = await this.drafts.of(principal, version);
    const range = await this.ids.reserve('build-definition', Math.max(draft.definitions.length, 1));
    const build = { buildId: uuid(), version, draft };
    const manifest = await this.database.write((manager) =>
      this.snapshots.insert(manager, principal, build, range.sequence()),
    );
    range.giveBack();
    return { ...manifest, warnings: await this.warnings.of(manifest) };
  }
}
