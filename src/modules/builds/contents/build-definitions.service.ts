import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../../../database/database.js';
import { ActiveBuildsRepository } from '../storage/active-builds.repository.js';
import { BuildContentsRepository } from '../storage/build-contents.repository.js';
import { BuildScopes } from './build-scopes.js';
import { ProcessDefinitionNotFoundError, WorkflowNotFoundError } from '../model/builds.errors.js';
import type { ActivatedBuild, BuildDefinition, StoredWorkflow } from '../model/builds.types.js';
import { DefinitionStore } from '../storage/definition-store.js';

/** Part of the transaction in which a build becomes the active one. It may touch nothing but the manager. */
export type ActivationListener = (
  manager: EntityManager,
  appId: string,
  build: ActivatedBuild,
) => Promise<void>;

/** What a listener has to do before that transaction begins, such as reserving ids; `build` is the same object. */
export type ActivationPreparation = (appId: string, build: ActivatedBuild) => Promise<void>;

/** Process definitions and workflows of builds, for whatever runs them (docs/contract.md, sections 4 and 6). */
@Injectable()
export class BuildDefinitionsService {
  private readonly listeners: { listener: ActivationListener; prepare: ActivationPreparation | undefined }[] =
    [];

  constructor(
    private readonly database: Database,
    private readonly store: DefinitionStore,
    private readonly scopes: BuildScopes,
    private readonly contents: BuildContentsRepository,
    private readonly actives: ActiveBuildsRepository,
  ) {}

  /**
   * A process of a build by its name: one indexed query, none when it is held in memory. Not inside of a transaction.
   * @returns the same object as long as it is held, so that it can be the key of a WeakMap
   * @throws BuildNotFoundError when the application has no such build
   * @throws ProcessDefinitionNotFoundError when the build has no process of this name
   */
  async findDefinition(appId: string, buildId: string, processName: string): Promise<BuildDefinition> {
    return this.store.byName({ appId, buildId, processName });
  }

  /**
   * As `findDefinition`, by the number of the definition.
   * @throws ProcessDefinitionNotFoundError
   */
  async byId(definitionId: number): Promise<BuildDefinition> {
    return this.store.byId(definitionId);
  }

  /** The processes of a build, without those of its libraries. */
  async ofBuild(buildId: string): Promise<BuildDefinition[]> {
    return this.store.ofBuild(buildId);
  }

  /**
   * The process that a call activity or an action of `from` starts.
   * @param appId a library of the build; null for the build itself and then, where it has no process of this name, its
   * libraries: the closest level first, on one level the newest build (docs/process-semantics.md, section 1)
   * @throws ProcessDefinitionNotFoundError
   */
  async resolveCall(
    from: BuildDefinition,
    appId: string | null,
    processName: string,
  ): Promise<BuildDefinition> {
    for (const build of await this.scopes.candidates(from.buildId, appId)) {
      const found = await this.find(build.appId, build.buildId, processName);
      if (found !== null) {
        return found;
      }
    }
    throw new ProcessDefinitionNotFoundError();
  }

  /**
   * The workflow that an action of a process of this build starts, as it was delivered.
   * @param appId as in `resolveCall`
   * @throws WorkflowNotFoundError, BuildNotFoundError
   */
  async workflow(buildId: string, appId: string | null, name: string): Promise<StoredWorkflow> {
    for (const build of await this.scopes.candidates(buildId, appId)) {
      const text = await this.database.read((manager) =>
        this.contents.workflow(manager, build.buildId, name),
      );
      if (text !== null) {
        return JSON.parse(text) as StoredWorkflow;
      }
    }
    throw new WorkflowNotFoundError();
  }

  /** The build of an application that is active; null when none ever was. */
  async activeBuild(appId: string): Promise<Pick<ActivatedBuild, 'buildId' | 'activatedAt'> | null> {
    return this.database.read((manager) => this.actives.find(manager, appId));
  }

  /**
   * Makes a listener part of every activation from now on: for starts by timers and messages.
   * @param prepare runs before the transaction, where the database may be asked
   */
  onActivated(listener: ActivationListener, prepare?: ActivationPreparation): void {
    this.listeners.push({ listener, prepare });
  }

  /** Lets the listeners do what they must do before the transaction of an activation. */
  async prepareActivation(appId: string, build: ActivatedBuild): Promise<void> {
    for (const { prepare } of this.listeners) {
      await prepare?.(appId, build);
    }
  }

  /** Calls the listeners, in the transaction of an activation. */
  async activated(manager: EntityManager, appId: string, build: ActivatedBuild): Promise<void> {
    for (const { listener } of this.listeners) {
      await listener(manager, appId, build);
    }
  }

  private async find(appId: string, buildId: string, processName: string): Promise<BuildDefinition | null> {
    try {
      return await this.findDefinition(appId, buildId, processName);
    } catch (error) {
      if (error instanceof ProcessDefinitionNotFoundError) {
        return null;
      }
      throw error;
    }
  }
}
