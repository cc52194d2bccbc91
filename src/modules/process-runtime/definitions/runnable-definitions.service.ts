import { Injectable } from '@nestjs/common';
import { BuildDefinitionsService } from '../../builds/contents/build-definitions.service.js';
import { BuildDamagedError } from '../../builds/model/builds.errors.js';
import type { BuildDefinition } from '../../builds/model/builds.types.js';
import { RecentlyUsed } from '../../../common/recently-used.js';
import { isDatabaseFailure } from '../../../database/database.errors.js';
import { makeUnicodeClasses } from '../../../language/expressions/unicode-classes.js';
import { RunnableDefinition } from './runnable-definition.js';
import { processLimits } from '../process.limits.js';

/**
 * Definitions ready to run, those used last up to `definitionCacheBytes`. A limit of its own, since a compiled
 * definition takes many times the memory of its graph. A build never changes, so none grows old.
 */
@Injectable()
export class RunnableDefinitionsService {
  private readonly known = new RecentlyUsed<number, RunnableDefinition>({
    bytes: processLimits.definitionCacheBytes,
  });

  constructor(private readonly builds: BuildDefinitionsService) {}

  /** The definition, if it is in memory; for work inside of a transaction, which must not ask for more. */
  held(id: number): RunnableDefinition | undefined {
    return this.known.get(id);
  }

  /** @throws ProcessDefinitionNotFoundError */
  async byId(id: number): Promise<RunnableDefinition> {
    return this.held(id) ?? (await this.of(await this.builds.byId(id)));
  }

  /**
   * The definition for a report of what has failed: that it cannot be loaded or compiled can be the failure itself.
   * @returns undefined then
   * @throws whatever the database does
   */
  async ifUsable(id: number): Promise<RunnableDefinition | undefined> {
    try {
      return await this.byId(id);
    } catch (error) {
      if (isDatabaseFailure(error)) {
        throw error;
      }
      return undefined;
    }
  }

  /** @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async byName(appId: string, buildId: string, processName: string): Promise<RunnableDefinition> {
    return this.of(await this.builds.findDefinition(appId, buildId, processName));
  }

  /** The process that one calls. @throws ProcessDefinitionNotFoundError */
  async called(
    from: RunnableDefinition,
    appId: string | null,
    processName: string,
  ): Promise<RunnableDefinition> {
    return this.of(await this.builds.resolveCall(from.build, appId, processName));
  }

  /** The same object for the same definition, as long as it is held. */
  async of(build: BuildDefinition): Promise<RunnableDefinition> {
    if (this.held(build.id) === undefined) {
      await makeUnicodeClasses(JSON.stringify(build.graph));
      const damage = await this.damageOf(build);
      if (damage !== undefined) {
        // Not held, so that it runs again once it is restored.
        return new RunnableDefinition(build, damage);
      }
    }
    return this.held(build.id) ?? this.made(build);
  }

  private async damageOf(build: BuildDefinition): Promise<string | undefined> {
    try {
      await this.builds.demandWhole(build);
      return undefined;
    } catch (error) {
      if (error instanceof BuildDamagedError) {
        return error.message;
      }
      throw error;
    }
  }

  private made(build: BuildDefinition): RunnableDefinition {
    const definition = new RunnableDefinition(build);
    this.known.set(build.id, definition, definition.estimatedBytes);
    return definition;
  }
}
