import { Injectable } from '@nestjs/common';
import type { PackageProblem } from '../../packages/model/package.types.js';
import { PackagesService } from '../../packages/packages.service.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';

/** A build that was just made; `buildId` is null for a version that was just committed. */
export interface WarnedVersion extends AppVersionKey {
  buildId: string | null;
}

/** Warns a person who commits a version or makes a build. A warning never stops the commit or the build. */
export type BuildWarner = (made: WarnedVersion) => Promise<PackageProblem[]>;

/** Warnings of other modules about a new build, or about a version that was committed. */
@Injectable()
export class BuildWarningsService {
  private readonly warners: BuildWarner[] = [];

  constructor(private readonly packages: PackagesService) {}

  /** Call it in `onModuleInit`. */
  register(warner: BuildWarner): void {
    this.warners.push(warner);
  }

  /** As many as `problems` allows. Not inside of a transaction. */
  async of({ appId, appVersionId, buildId }: WarnedVersion): Promise<PackageProblem[]> {
    const found: PackageProblem[][] = [];
    for (const warner of this.warners) {
      found.push(await warner({ appId, appVersionId, buildId }));
    }
    return this.packages.told(found.flat());
  }
}
