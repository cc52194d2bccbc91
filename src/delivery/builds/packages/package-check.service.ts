import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { runAfterYield } from '#engine/support';
import type { Principal } from '../../../platform/user/principal.js';
import { nameKey } from '../../../platform/validation/resource-name.js';
import { Database } from '../../../store/database.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import type { CheckContext, DefinitionIds, PackageProblem } from '../../packages/model/package.types.js';
import { PackageThreadsService } from '../../packages/package-threads.service.js';
import type { PackageThread } from '../../packages/thread/package-thread.js';
import type { DraftChange } from '../../packages/drafts/draft-workflows.js';
import { workflowDefinitionId } from '../../../platform/validation/resource-ids.js';
import type {
  EditTask,
  StorableGraph,
  StorablePackage,
  StorableProcessFile,
  NamedNode,
  PackageJson,
} from '../../packages/thread/package-task.types.js';
import { SystemsService } from '../../../systems/registration/systems.service.js';
import { SystemType } from '../../../systems/model/system.types.js';
import { SystemsImportService } from '../../../systems/delivery/systems-import.service.js';
import { LibrariesService, type ResolvedLibraries } from '../libraries/libraries.service.js';
import { PackageRefusedError } from '../model/builds.errors.js';
import { AppPackages, type PackageState } from '../storage/app-packages.repository.js';

/** Result of a check; `package` is null when `problems` contains errors. */
export interface PackageCheck {
  package: StorablePackage | null;
  /** Process graphs with node ids; empty unless for a build. */
  graphs: NumberedGraph[];
  libraries: ResolvedLibraries | null;
  problems: PackageProblem[];
}

/** A process graph of a package, with its JSON in the stored form. */
export interface NumberedGraph
  extends Pick<StorableGraph, 'name' | 'svcUuid'>, Pick<StorableProcessFile, 'file' | 'bpmn'> {
  graph: Uint8Array;
}

/** A checked package that can be stored in a version. */
export interface Delivery {
  version: AppVersionKey;
  package: StorablePackage & { drafts: Uint8Array };
  libraries: ResolvedLibraries;
  /** When the check read the stored package. */
  at: Date;
  /** The stored package at that time, or null. */
  before: PackageState | null;
  /** Warnings about the package. */
  remarks: PackageProblem[];
}

const NOTHING = { package: null, graphs: [], libraries: null };

/** A package as JSON, or an edit of a stored package. */
export type PackageSource = PackageJson | EditTask;

export interface CheckOptions {
  /** Also prepares the contents of a build. Returns the ids of nodes, in their order. */
  forBuild?: (svcUuid: string, nodes: readonly NamedNode[]) => Promise<number[]>;
  /** Also prepares the workflows of a draft. Called when the check begins; returns the stored state. */
  draft?: () => Promise<DraftChange>;
  /** Nothing is stored or built, so refused uses of libraries are reported but not recorded. */
  isOnlyRead?: true;
  /** Builds to treat as unknown. */
  hidden?: ReadonlySet<string>;
}

/** Checks packages against stored builds of libraries, systems of the version, and definition ids. */
@Injectable()
export class PackageCheckService {
  constructor(
    private readonly threads: PackageThreadsService,
    private readonly libraries: LibrariesService,
    private readonly systems: SystemsImportService,
    private readonly states: SystemsService,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks a package for storing, which may happen as long as the stored package does not change. Not for use inside a transaction.
   * @throws PackageRefusedError listing all problems, and what `require` throws
   */
  async delivery(principal: Principal, version: AppVersionKey, source: PackageSource): Promise<Delivery> {
    const seen = { at: this.clock.now(), before: null as PackageState | null };
    const draft = async (): Promise<DraftChange> => {
      const row = await this.database.read((manager) => AppPackages.workflows(manager, version));
      seen.at = this.clock.now();
      seen.before = row;
      return { before: row?.workflows ?? null, at: seen.at, by: principal.user };
    };
    const checked = await this.require(principal, version, source, { draft });
    const { package: pkg, libraries, problems } = checked;
    if (pkg === null || pkg.drafts === null || libraries === null) {
      throw new PackageRefusedError(problems);
    }
    return { version, package: { ...pkg, drafts: pkg.drafts }, libraries, ...seen, remarks: problems };
  }

  /**
   * Checks a package. Not for use inside a transaction.
   * @param source untrusted
   * @throws UnreadableBodyError when it is not a JSON object
   * @throws SequenceNotFoundError when it edits an unknown sequence
   * @throws PackageChecksBusyError when too many packages are waiting
   */
  async check(
    version: AppVersionKey,
    source: PackageSource,
    { forBuild, draft, hidden = new Set() }: CheckOptions = {},
  ): Promise<PackageCheck> {
    const { appId } = version;
    return this.threads.runExclusively(async (thread) => {
      const isJson = typeof source === 'string' || source instanceof Uint8Array;
      const { json, problems: lost } = isJson ? { json: source, problems: [] } : await thread.edit(source);
      if (json === null) {
        return { ...NOTHING, problems: lost };
      }
      const { outline, problems } = await thread.read({ json, appId });
      if (outline === null) {
        return { ...NOTHING, problems };
      }
      const libraries = await this.libraries.resolve(appId, outline.libraries, hidden);
      const definitionIds = await this.definitionIds(appId, outline);
      const registered = await this.registered(version);
      const context = { appId, libraries: libraries.direct, definitionIds, registered };
      const build = forBuild === undefined ? null : version;
      const checked = await thread.check({ json, context, build, draft: (await draft?.()) ?? null });
      const all = [...problems, ...libraries.problems, ...checked.problems];
      const pkg = all.some(({ severity }) => severity === 'error') ? null : checked.storable;
      const graphs = forBuild === undefined ? [] : await numbered(thread, pkg, forBuild);
      return { package: pkg, graphs, libraries, problems: all };
    });
  }

  /**
   * Checks a package that the caller wants to store or build.
   * @throws LibraryNotUsableError when the application must not use a library that the package names. It precedes all other problems, which
   * could reveal the contents of the library. For callers who may not deliver that library, it appears unknown instead
   */
  async require(
    principal: Principal,
    version: AppVersionKey,
    source: PackageSource,
    options: CheckOptions = {},
  ): Promise<PackageCheck> {
    const checked = await this.check(version, source, options);
    const named = checked.libraries?.named ?? [];
    const isUse = options.isOnlyRead !== true;
    const hidden = await this.libraries.require(principal, version, named, { isUse });
    return hidden.size === 0 ? checked : this.check(version, source, { ...options, hidden });
  }

  private async registered(version: AppVersionKey): Promise<NonNullable<CheckContext['registered']>> {
    const systems = await this.states.states(version);
    return systems
      .filter(({ type }) => type === SystemType.Mcp)
      .map(({ resourceName, resourceDefinitionId }) => ({ resourceName, resourceDefinitionId }));
  }

  /** Returns the known definition ids of the systems and workflows of a package. */
  async definitionIds(
    appId: string,
    {
      systems,
      workflows,
    }: { systems: readonly { resourceName: string }[]; workflows: readonly { name: string }[] },
  ): Promise<DefinitionIds> {
    const names = systems.map(({ resourceName }) => resourceName);
    return {
      systems: await this.systems.definitionIds(appId, names),
      workflows: new Map(workflows.map(({ name }) => [nameKey(name), workflowDefinitionId(appId, name)])),
    };
  }
}

async function numbered(
  thread: PackageThread,
  pkg: StorablePackage | null,
  numbersOf: NonNullable<CheckOptions['forBuild']>,
): Promise<NumberedGraph[]> {
  const found: NumberedGraph[] = [];
  for (const { file, bpmn, graphs } of pkg?.processes ?? []) {
    for (const { name, svcUuid, nodes, json } of graphs) {
      const named = await runAfterYield(() => JSON.parse(new TextDecoder().decode(nodes)) as NamedNode[]);
      const numbers = Float64Array.from(await numbersOf(svcUuid, named));
      found.push({ name, svcUuid, file, bpmn, graph: await thread.number({ json, numbers }) });
    }
  }
  return found;
}
