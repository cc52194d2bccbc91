import { nameKey } from '../../../platform/validation/resource-name.js';
import { SystemType } from '../../../systems/model/system.types.js';
import { quoted, type Place, type PackageProblems } from '../model/package-problems.js';
import type {
  ApplicationPackage,
  CheckContext,
  LibraryBuild,
  ResourceReference,
  UnreadParts,
} from '../model/package.types.js';

/** A reference that leads somewhere, with all that is known of what it names. */
export interface ResolvedReference {
  appId: string;
  resourceName: string;
  /** Null for what the package itself brings: definition ids are given when it is stored. */
  resourceDefinitionId: string | null;
}

interface Target extends ResolvedReference {
  /** Null for a workflow. */
  type: SystemType | null;
}

type Kind = 'system' | 'workflow';

/** What of a package refers to something, or is referred to. */
export interface Referring extends Pick<ApplicationPackage, 'systems' | 'workflows'> {
  application: Pick<ApplicationPackage['application'], 'libraries'>;
}

/** Finds the targets of the references of a package: in the package itself or in a library that it names. */
export class References {
  private readonly targets: Record<Kind, Target[]>;
  /** Names that the application's own definition ids were given to. */
  private readonly names: Record<Kind, ReadonlyMap<string, string>>;

  constructor(
    pkg: Referring,
    private readonly context: CheckContext,
    private readonly problems: PackageProblems,
    /** Where the package could not be read as a whole; then nothing is known of libraries and of what the version holds besides. */
    private readonly unread: UnreadParts | null,
  ) {
    const own = { appId: context.appId, resourceDefinitionId: null };
    const libraries = namedLibraries(pkg, context);
    this.targets = {
      system: [
        ...pkg.systems.map(({ resourceName, type }) => ({ ...own, resourceName, type })),
        ...registered(pkg, context),
        ...libraries.flatMap(({ appId, systems }) => systems.map((system) => ({ appId, ...system }))),
      ],
      workflow: [
        ...pkg.workflows.map(({ name }) => ({ ...own, resourceName: name, type: null })),
        ...libraries.flatMap(({ appId, workflows }) =>
          workflows.map(({ name, ...ids }) => ({ appId, resourceName: name, ...ids, type: null })),
        ),
      ],
    };
    this.names = {
      system: namesById(context.definitionIds?.systems),
      workflow: namesById(context.definitionIds?.workflows),
    };
  }

  /** @returns undefined when the reference leads to no system of this type; the problems say so */
  system(reference: ResourceReference, type: SystemType, place: Place): ResolvedReference | undefined {
    const mayBeRegistered = this.unread !== null && type === SystemType.Mcp;
    const target = this.find('system', reference, place, mayBeRegistered);
    if (target !== undefined && target.type !== type) {
      const message = `System "${target.resourceName}" is of type ${target.type}; a system of type ${type} is needed.`;
      this.problems.error('SYSTEM_TYPE_MISMATCH', place, message);
      return undefined;
    }
    return target && resolved(target);
  }

  /** @returns undefined when the reference leads to no workflow; the problems say so */
  workflow(reference: ResourceReference, place: Place): ResolvedReference | undefined {
    const target = this.find('workflow', reference, place);
    return target && resolved(target);
  }

  private find(
    kind: Kind,
    reference: ResourceReference,
    place: Place,
    mayBeElsewhere = false,
  ): Target | undefined {
    const id = reference.resourceDefinitionId ?? '';
    const name = reference.resourceName ?? '';
    const appId = reference.appId ?? this.context.appId;
    if (id === '' && name === '') {
      const message = `A reference names a ${kind} by "resourceDefinitionId" or by "resourceName".`;
      this.problems.error('REFERENCE_INVALID', place, message);
      return undefined;
    }
    const target = this.targets[kind].find(
      (candidate) =>
        candidate.appId === appId &&
        (name === '' || nameKey(candidate.resourceName) === nameKey(name)) &&
        (id === '' || this.hasId(kind, candidate, id)),
    );
    if (target === undefined && !mayBeElsewhere) {
      this.tellMissing(kind, { appId, id, name }, place);
    }
    return target;
  }

  private tellMissing(
    kind: Kind,
    { appId, id, name }: { appId: string; id: string; name: string },
    place: Place,
  ): void {
    if (this.mayBeUnread(kind, appId, name)) {
      return;
    }
    const where =
      appId === this.context.appId ? 'this package' : `a library "${quoted(appId)}" that this package names`;
    const names = (): string[] =>
      this.targets[kind].flatMap((other) => (other.appId === appId ? [other.resourceName] : []));
    const hint = name === '' ? '' : this.problems.didYouMean(name, names);
    const message = `There is no ${kind} "${quoted(name === '' ? id : name)}" in ${where}.${hint}`;
    this.problems.error(`${kind.toUpperCase()}_NOT_FOUND`, place, message);
  }

  private mayBeUnread(kind: Kind, appId: string, name: string): boolean {
    if (this.unread === null) {
      return false;
    }
    const names = this.unread[`${kind}s`];
    const isNamed = names === null || names.some((other) => nameKey(other) === nameKey(name));
    return appId !== this.context.appId || name === '' || isNamed;
  }

  private hasId(kind: Kind, { resourceDefinitionId, resourceName }: Target, id: string): boolean {
    return resourceDefinitionId === null
      ? this.names[kind].get(id) === nameKey(resourceName)
      : resourceDefinitionId === id;
  }
}

/** Systems that the version has besides those of the package. */
function registered(
  { systems }: Pick<ApplicationPackage, 'systems'>,
  { appId, registered: all = [] }: CheckContext,
): Target[] {
  const named = new Set(systems.map(({ resourceName }) => nameKey(resourceName)));
  return all
    .filter(({ resourceName }) => !named.has(nameKey(resourceName)))
    .map((system) => ({ ...system, appId, type: SystemType.Mcp }));
}

/** The builds that the package names; what else the context holds is out of reach. */
export function namedLibraries(
  { application }: Pick<Referring, 'application'>,
  { libraries }: CheckContext,
): LibraryBuild[] {
  return libraries.filter(({ appId, buildId }) =>
    application.libraries.some((named) => named.appId === appId && named.buildId === buildId),
  );
}

function resolved({ appId, resourceName, resourceDefinitionId }: Target): ResolvedReference {
  return { appId, resourceName, resourceDefinitionId };
}

function namesById(idsByName: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  return new Map([...idsByName].map(([name, id]) => [id, nameKey(name)]));
}
