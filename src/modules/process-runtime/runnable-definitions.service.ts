import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import { BuildDefinitionsService } from '../builds/build-definitions.service.js';
import type { BuildDefinition } from '../builds/builds.types.js';
import { RunnableDefinition } from './step/runnable-definition.js';

/** Definitions ready to run, those used last up to PROCESS_DEFINITION_CACHE. A build never changes, so none grows old. */
@Injectable()
export class RunnableDefinitionsService {
  private readonly known = new Map<number, RunnableDefinition>();
  private readonly limit: number;

  constructor(
    private readonly builds: BuildDefinitionsService,
    env: Env,
  ) {
    this.limit = env.get('PROCESS_DEFINITION_CACHE');
  }

  /** The definition, if it is in memory; for work inside of a transaction, which must not ask for more. */
  held(id: number): RunnableDefinition | undefined {
    const definition = this.known.get(id);
    if (definition !== undefined) {
      // The order of a Map is its insertion order: this makes it the youngest.
      this.known.delete(id);
      this.known.set(id, definition);
    }
    return definition;
  }

  /** @throws ProcessDefinitionNotFoundError */
  async byId(id: number): Promise<RunnableDefinition> {
    return this.held(id) ?? this.of(await this.builds.byId(id));
  }

  /** @throws BuildNotFoundError, ProcessDefinitionNotFoundError */
  async byName(appId: string, buildId: string, processName: string): Promise<RunnableDefinition> {
    return this.of(await this.builds.findDefinition(appId, buildId, processName));
  }

  /**
   * The process that one calls.
   * @throws ProcessDefinitionNotFoundError
   */
  async called(
    from: RunnableDefinition,
    appId: string | null,
    processName: string,
  ): Promise<RunnableDefinition> {
    return this.of(await this.builds.resolveCall(from.build, appId, processName));
  }

  /** The same object for the same definition, as long as it is held. */
  of(build: BuildDefinition): RunnableDefinition {
    const definition = this.held(build.id) ?? new RunnableDefinition(build);
    this.known.set(build.id, definition);
    const [oldest] = this.known.keys();
    if (this.known.size > this.limit && oldest !== undefined) {
      this.known.delete(oldest);
    }
    return definition;
  }
}
