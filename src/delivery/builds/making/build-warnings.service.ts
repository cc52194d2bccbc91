import { Injectable } from '@nestjs/common';
import type { PackageProblem } from '../../packages/model/package.types.js';
import { PackagesService } from '../../packages/packages.service.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';

/** A new build; `buildId` is null for a version that was just committed. */
export interface WarnedVersion extends AppVersionKey {
  buildId: string | null;
}

/** Returns warnings about a version that is committed or a new build. They never prevent the commit or the build. */
export type BuildWarner = (version: WarnedVersion) => Promise<PackageProblem[]>;

/** Collects warnings of other modules about a new build or a committed version. */
@Injectable()
export class BuildWarningsService {
  private readonly warners: BuildWarner[] = [];

  constructor(private readonly packages: PackagesService) {}

  /** Adds a source of warnings. Call it in `onModuleInit`. */
  register(warner: BuildWarner): void {
    this.warners.push(warner);
  }

  /** Returns the warnings, at most as many as the limit `problems` allows. Not for use inside a transaction. */
  async of({ appId, appVersionId, buildId }: WarnedVersion): Promise<PackageProblem[]> {
    const found: PackageProblem[][] = [];
    for (const warner of this.warners) {
      found.push(await warner({ appId, appVersionId, buildId }));
    }
    return this.packages.limited(found.flat());
  }
}
