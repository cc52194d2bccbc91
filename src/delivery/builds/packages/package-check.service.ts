import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock.js';
import { inTurn } from '#engine/support';
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
  JudgedGraph,
  JudgedPackage,
  JudgedProcessFile,
  NamedNode,
  PackageJson,
} from '../../packages/thread/package-task.types.js';
import { SystemsService } from '../../../systems/registration/systems.service.js';
import { SystemType } from '../../../systems/model/system.types.js';
import { SystemsImportService } from '../../../systems/delivery/systems-import.service.js';
import { LibrariesService, type ResolvedLibraries } from '../libraries/libraries.service.js';
import { PackageRefusedError } from '../model/builds.errors.js';
import { AppPackages, type PackageState } from '../storage/app-packages.repository.js';

/** A package with all that a check of it found out; `package` is null when there are errors among the problems. */
export interface PackageCheck {
  package: JudgedPackage | null;
  /** Its process graphs with the numbers of their nodes; empty unless for a build. */
  graphs: NumberedGraph[];
  libraries: ResolvedLibraries | null;
  problems: PackageProblem[];
}

/** A process graph of a package, its JSON as a column holds it. */
export interface NumberedGraph
  extends Pick<JudgedGraph, 'name' | 'svcUuid'>, Pick<JudgedProcessFile, 'file' | 'bpmn'> {
  graph: Uint8Array;
}

/** A package on its way into a version. */
export interface Delivery {
  version: AppVersionKey;
  package: JudgedPackage & { drafts: Uint8Array };
  libraries: ResolvedLibraries;
  /** When its check looked at what is stored so far. */
  at: Date;
  /** What that was; null for nothing. */
  before: PackageState | null;
  /** What is not quite right with it. */
  remarks: PackageProblem[];
}

const NOTHING = { package: null, graphs: [], libraries: null };

/** A package that is there as JSON, or one that becomes of a stored one. */
export type PackageSource = PackageJson | EditTask;

/** What is asked of a check. */
export interface CheckOptions {
  /** What a build holds too: tells the numbers of nodes, in their order. */
  forBuild?: (svcUuid: string, nodes: readonly NamedNode[]) => Promise<number[]>;
  /** The workflows as a draft holds them too: tells what is stored so far, when the check begins. */
  draft?: () => Promise<DraftChange>;
  /** Nothing is stored or built: a library that must not be used is told, and no refused use of it is recorded. */
  isOnlyRead?: true;
  /** Builds that are looked up as if they were not there. */
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
   * A package that can be stored as long as the version has the package that it has now. Not inside of a transaction.
   * @throws PackageRefusedError naming all that is wrong with it, and what `require` throws
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
   * Not inside of a transaction.
   * @param source of unknown origin
   * @throws UnreadableBodyError when it is no JSON object
   * @throws SequenceNotFoundError when it is an edit of a sequence that is not there
   * @throws PackageChecksBusyError when too many packages wait
   */
  async check(
    version: AppVersionKey,
    source: PackageSource,
    { forBuild, draft, hidden = new Set() }: CheckOptions = {},
  ): Promise<PackageCheck> {
    const { appId } = version;
    return this.threads.inTurn(async (thread) => {
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
      const pkg = all.some(({ severity }) => severity === 'error') ? null : checked.judged;
      const graphs = forBuild === undefined ? [] : await numbered(thread, pkg, forBuild);
      return { package: pkg, graphs, libraries, problems: all };
    });
  }

  /**
   * As `check`, for somebody who wants to store or build the package.
   * @throws LibraryNotUsableError when the application must not use a library that it names. It comes before all other
   * problems, which could tell the contents of the library. A caller who may not deliver that library is told nothing of it
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

  /** Definition ids of the systems and workflows of a package, as far as they are known already. */
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
  pkg: JudgedPackage | null,
  numbersOf: NonNullable<CheckOptions['forBuild']>,
): Promise<NumberedGraph[]> {
  const found: NumberedGraph[] = [];
  for (const { file, bpmn, graphs } of pkg?.processes ?? []) {
    for (const { name, svcUuid, nodes, json } of graphs) {
      const named = await inTurn(() => JSON.parse(new TextDecoder().decode(nodes)) as NamedNode[]);
      const numbers = Float64Array.from(await numbersOf(svcUuid, named));
      found.push({ name, svcUuid, file, bpmn, graph: await thread.number({ json, numbers }) });
    }
  }
  return found;
}
