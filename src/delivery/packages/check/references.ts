import { nameKey } from '../../../platform/validation/resource-name.js';
import { SystemType } from '../../../systems/model/system.types.js';
import { shortened, type Place, type PackageProblems } from '../model/package-problems.js';
import type {
  ApplicationPackage,
  CheckContext,
  LibraryBuild,
  ResourceReference,
  UnreadParts,
} from '../model/package.types.js';

/** A reference whose target is known. */
export interface ResolvedReference {
  appId: string;
  resourceName: string;
  /** Null for parts of the package itself, which get their definition ids when it is stored. */
  resourceDefinitionId: string | null;
}

interface Target extends ResolvedReference {
  /** Null for a workflow. */
  type: SystemType | null;
}

type Kind = 'system' | 'workflow';

/** The parts of a package that contain or receive references. */
export interface Referring extends Pick<ApplicationPackage, 'systems' | 'workflows'> {
  application: Pick<ApplicationPackage['application'], 'libraries'>;
}

/** Finds the targets of the references of a package: in the package itself or in a library that it names. */
export class References {
  private readonly targets: Record<Kind, Target[]>;
  /** Names that belong to the application's own definition ids. */
  private readonly names: Record<Kind, ReadonlyMap<string, string>>;

  constructor(
    pkg: Referring,
    private readonly context: CheckContext,
    private readonly problems: PackageProblems,
    /** The parts of the package that could not be read, or null. If set, libraries and other systems of the version are unknown. */
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

  /** Finds a system. Returns undefined and reports a problem when there is none of this type. */
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

  /** Finds a workflow. Returns undefined and reports a problem when there is none. */
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
      const message = `A reference must name a ${kind} by "resourceDefinitionId" or "resourceName".`;
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
      this.reportMissing(kind, { appId, id, name }, place);
    }
    return target;
  }

  private reportMissing(
    kind: Kind,
    { appId, id, name }: { appId: string; id: string; name: string },
    place: Place,
  ): void {
    if (this.mayBeUnread(kind, appId, name)) {
      return;
    }
    const where =
      appId === this.context.appId
        ? 'this package'
        : `a library "${shortened(appId)}" that this package names`;
    const names = (): string[] =>
      this.targets[kind].flatMap((other) => (other.appId === appId ? [other.resourceName] : []));
    const hint = name === '' ? '' : this.problems.didYouMean(name, names);
    const message = `There is no ${kind} "${shortened(name === '' ? id : name)}" in ${where}.${hint}`;
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

/** Returns the systems of the version that are not in the package. */
function registered(
  { systems }: Pick<ApplicationPackage, 'systems'>,
  { appId, registered: all = [] }: CheckContext,
): Target[] {
  const named = new Set(systems.map(({ resourceName }) => nameKey(resourceName)));
  return all
    .filter(({ resourceName }) => !named.has(nameKey(resourceName)))
    .map((system) => ({ ...system, appId, type: SystemType.Mcp }));
}

/** Returns the library builds that the package names, ignoring others in the context. */
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
