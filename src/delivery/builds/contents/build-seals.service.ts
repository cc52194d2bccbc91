import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { canonicalJson } from '../../../platform/json/canonical-json.js';
import { Log } from '../../../platform/observability/logging/log.js';
import { LruCache } from '../../../platform/lru-cache.js';
import { definitionHash } from '../../../platform/json/tool-definition-hash.js';
import { runAfterYield } from '#engine/support';
import { Database } from '../../../store/database.js';
import { storedBytes } from '../../../store/tables/column-values.js';
import type { PackageSettings } from '../../packages/model/package.types.js';
import { BuildDamagedError } from '../model/builds.errors.js';
import type { BuildDefinition } from '../model/builds.types.js';
import type { BuildLibraryDto } from '../model/package.dto.js';
import { AppPackages } from '../storage/app-packages.repository.js';
import { BuildContents } from '../storage/build-contents.repository.js';
import type { BuildSystemEntity, BuildToolEntity, BuildEntity } from '../storage/build.entity.js';
import { Builds } from '../storage/builds.repository.js';
import { DefinitionRows } from '../storage/definition-rows.repository.js';
import { buildChecksum, emptyPackage, textHash, type BuildContent } from './build-checksum.js';
import { SingleFlight } from '../../../platform/concurrency/single-flight.js';

/** Maximum number of builds whose hashes are cached. */
const MAX_SEALS = 1_000;

/** Hashes of the parts of a build whose checksum was verified. */
interface Seal {
  /** By definition id. */
  readonly definitions: ReadonlyMap<number, string>;
  /** By name. */
  readonly workflows: ReadonlyMap<string, string>;
  readonly libraries: string;
  readonly systems: string;
  /** Definition hash and enabled flag, by id. */
  readonly tools: ReadonlyMap<string, string>;
}

/**
 * Verifies the parts of builds that are loaded. Before anything of a build runs for the first time, reads the whole build and compares its
 * checksum. Parts loaded later are compared with the hashes in memory.
 */
@Injectable()
export class BuildSeals {
  private readonly cached = new LruCache<string, Seal>({ entries: MAX_SEALS });
  private readonly loading = new SingleFlight<string, Seal>();
  /** Last verification. Builds are verified one after the other, since each is in memory as a whole. */
  private latest: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly log: Log,
  ) {}

  /** @throws BuildDamagedError */
  async verifyDefinition({ id, buildId, hash }: BuildDefinition): Promise<void> {
    const { definitions } = await this.sealOf(buildId);
    this.assertWhole(definitions.get(id) === hash, buildId);
  }

  /**
   * Returns a workflow of a build as JSON in UTF-8.
   * @returns null when there is no workflow of this name
   * @throws BuildDamagedError
   */
  async workflow(buildId: string, name: string): Promise<Buffer | null> {
    const text = await this.database.read((manager) => BuildContents.workflow(manager, buildId, name));
    if (text !== null) {
      const { workflows } = await this.sealOf(buildId);
      this.assertWhole(workflows.get(name) === textHash(text), buildId);
    }
    return text;
  }

  /** @throws BuildDamagedError */
  async verifyLibraries(buildId: string, libraries: readonly BuildLibraryDto[]): Promise<void> {
    const seal = await this.sealOf(buildId);
    this.assertWhole(seal.libraries === rowsHash(libraries), buildId);
  }

  /** @throws BuildDamagedError */
  async verifySystems(buildId: string, systems: readonly BuildSystemEntity[]): Promise<void> {
    const seal = await this.sealOf(buildId);
    this.assertWhole(seal.systems === rowsHash(systems), buildId);
  }

  /** @throws BuildDamagedError */
  async verifyTools(buildId: string, tools: readonly BuildToolEntity[]): Promise<void> {
    const seal = await this.sealOf(buildId);
    for (const tool of tools) {
      const hasOwnHash = await runAfterYield(() => definitionHash(tool) === tool.definitionHash);
      this.assertWhole(hasOwnHash && seal.tools.get(tool.toolId) === hashAndFlag(tool), buildId);
    }
  }

  private assertWhole(isWhole: boolean, buildId: string): void {
    if (!isWhole) {
      const error = new BuildDamagedError(buildId);
      this.log.error('build damaged', error, { buildId });
      throw error;
    }
  }

  private async sealOf(buildId: string): Promise<Seal> {
    return this.cached.get(buildId) ?? this.loading.run(buildId, () => this.verifyNext(buildId));
  }

  private verifyNext(buildId: string): Promise<Seal> {
    const verified = this.latest.then(() => this.verify(buildId));
    this.latest = verified.catch(() => undefined);
    return verified;
  }

  private async verify(buildId: string): Promise<Seal> {
    const build = await this.database.read((manager) => Builds.byId(manager, buildId));
    const definitions = await this.definitions(buildId);
    const workflows = await this.workflows(buildId);
    const rest = await this.database.read((manager) => this.otherParts(manager, build));
    const content = {
      ...rest,
      definitions: definitions.map(({ part }) => part),
      workflows: workflows.map(({ part }) => part),
    };
    this.assertWhole((await buildChecksum(content)) === build.checksum, buildId);
    const seal: Seal = {
      definitions: new Map(definitions.map(({ id, hash }) => [id, hash])),
      workflows: new Map(workflows.map(({ part, hash }) => [part.name, hash])),
      libraries: rowsHash(content.libraries),
      systems: rowsHash(content.systems),
      tools: new Map(content.tools.map((tool) => [tool.toolId, hashAndFlag(tool)])),
    };
    this.cached.set(buildId, seal);
    return seal;
  }

  private async definitions(
    buildId: string,
  ): Promise<{ id: number; hash: string; part: BuildContent['definitions'][number] }[]> {
    const found = [];
    for (const id of await this.database.read((manager) => DefinitionRows.idsOf(manager, buildId))) {
      const { graph, bpmn, ...rest } = await this.database.read((manager) =>
        BuildContents.definition(manager, id),
      );
      const part = { ...rest, graph: storedBytes(graph), bpmn: storedBytes(bpmn) };
      found.push(await runAfterYield(() => ({ id, hash: textHash(graph), part })));
    }
    return found;
  }

  private async workflows(
    buildId: string,
  ): Promise<{ hash: string; part: BuildContent['workflows'][number] }[]> {
    const found = [];
    for (const row of await this.database.read((manager) => BuildContents.workflowIds(manager, buildId))) {
      const text = await this.database.read((manager) => BuildContents.workflow(manager, buildId, row.name));
      const definition = storedBytes((text ?? '').toString());
      found.push(await runAfterYield(() => ({ hash: textHash(text ?? ''), part: { ...row, definition } })));
    }
    return found;
  }

  private async otherParts(
    manager: EntityManager,
    { buildId, appId, appVersionId, settings }: BuildEntity,
  ): Promise<Omit<BuildContent, 'definitions' | 'workflows'>> {
    const version = { appId, appVersionId };
    const { checksum } = (await AppPackages.state(manager, version)) ?? emptyPackage(version);
    return {
      version,
      packageChecksum: checksum,
      settings: JSON.parse(settings) as PackageSettings,
      libraries: await BuildContents.libraries(manager, buildId),
      systems: await BuildContents.systems(manager, buildId),
      tools: await BuildContents.toolFacts(manager, buildId),
    };
  }
}

function rowsHash(rows: readonly (BuildLibraryDto | BuildSystemEntity)[]): string {
  return textHash(canonicalJson(rows));
}

function hashAndFlag({
  definitionHash: hash,
  enabled,
}: Pick<BuildToolEntity, 'definitionHash' | 'enabled'>): string {
  return `${hash} ${enabled}`;
}
