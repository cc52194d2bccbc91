import { Injectable } from '@nestjs/common';
import type { PackageProblem } from '../packages/package.types.js';
import type { BuildManifest } from './builds.types.js';

/** Tells what the maker of a build should know of it; never a reason not to make it. */
export type BuildWarner = (build: Pick<BuildManifest, 'appId' | 'buildId'>) => Promise<PackageProblem[]>;

/** What other modules have to say of a new build. */
@Injectable()
export class BuildWarningsService {
  private readonly warners: BuildWarner[] = [];

  /** Call it in `onModuleInit`. */
  register(warner: BuildWarner): void {
    this.warners.push(warner);
  }

  /** Not inside of a transaction. */
  async of(build: Pick<BuildManifest, 'appId' | 'buildId'>): Promise<PackageProblem[]> {
    const found: PackageProblem[] = [];
    for (const warner of this.warners) {
      found.push(...(await warner(build)));
    }
    return found;
  }
}
