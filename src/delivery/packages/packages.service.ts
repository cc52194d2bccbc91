import { Injectable } from '@nestjs/common';
import { plainHttpOf } from '../../platform/outbound/configured-outbound.js';
import { nameKey } from '../../platform/validation/resource-name.js';
import { Env } from '../../platform/config/env.js';
import { ProcessCompiler } from '#engine/definitions';
import { checkApplication } from './check/application-check.js';
import { checkDisplayNames, requireUniqueNames } from './check/names.js';
import { withPlaces } from './check/problem-places.js';
import { ProcessesCheck } from './check/processes-check.js';
import { References, type Referring } from './check/references.js';
import { checkSystems } from './check/systems-check.js';
import { WorkflowInputs } from './check/workflow-input.js';
import { WorkflowsCheck } from './check/workflows-check.js';
import { PackageProblems } from './model/package-problems.js';
import type {
  ApplicationPackage,
  CheckContext,
  CheckedPackage,
  DefinitionIds,
  PackageProblem,
  ReadableParts,
  ResourceReference,
  UnreadParts,
  WorkflowNode,
} from './model/package.types.js';
import { PackageReader } from './reading/package-reader.js';

/** The parts of a package that refer to each other. */
type Parts = Referring & Pick<ApplicationPackage, 'processes'>;

/**
 * Reads and checks application packages (docs/packages.md). Stores nothing and calls no other system. Packages of callers are processed in
 * a separate thread: see PackageThreadsService.
 */
@Injectable()
export class PackagesService {
  private readonly compiler: ProcessCompiler;

  constructor(private readonly env: Env) {
    this.compiler = new ProcessCompiler({
      startPermission: env.get('PROCESS_START_PERMISSION') !== undefined,
    });
  }

  /**
   * Parses a package in the form of one document: checks its shape and the limits that make hostile ones harmless.
   * @param document untrusted JSON
   * @returns the package, or null with all problems of its shape; `readable` has the parts for `checkParts`
   */
  parse(document: unknown): {
    package: ApplicationPackage | null;
    problems: PackageProblem[];
    readable: ReadableParts;
  } {
    const reader = new PackageReader(document);
    return { ...reader.read(), readable: reader.readable };
  }

  /**
   * Checks the readable parts of a package whose shape is wrong elsewhere, so that its author sees all problems at once. Skips references
   * to parts that could not be read or lie outside the package.
   */
  async checkParts({ unread, ...parts }: ReadableParts, appId: string): Promise<PackageProblem[]> {
    const problems = new PackageProblems();
    checkSystems(parts.systems, problems, 'allow');
    const pkg = { application: { libraries: [] }, ...parts };
    await this.checkReferences(pkg, { appId, libraries: [] }, problems, unread);
    return withPlaces(problems.list(), parts);
  }

  /**
   * Checks a package as a whole, so that its author sees everything at once that would otherwise fail later.
   * @param context the target of the delivery; `libraries` contains the named builds that exist
   * @returns the package in the form to store, or null with all problems; warnings are included in both cases
   */
  async check(
    pkg: ApplicationPackage,
    context: CheckContext,
  ): Promise<{ checked: CheckedPackage | null; problems: PackageProblem[] }> {
    const { application, systems } = pkg;
    const problems = new PackageProblems();
    checkApplication(application, context, problems);
    const files = [...systems, ...pkg.workflows].map(({ file }) => ({ name: file, file, element: null }));
    requireUniqueNames('files', 'FILE_NOT_UNIQUE', files, problems);
    checkSystems(systems, problems, plainHttpOf(this.env));
    checkDisplayNames(pkg, problems);
    const checked = { application, systems, ...(await this.checkReferences(pkg, context, problems, null)) };
    return {
      checked: problems.hasErrors ? null : checked,
      problems: withPlaces(problems.list(), pkg),
    };
  }

  /** Returns problems up to the limit `problems`. If some were omitted, the last entry says so. */
  limited(problems: readonly PackageProblem[]): PackageProblem[] {
    const found = new PackageProblems();
    problems.forEach((problem) => found.add(problem));
    return found.list();
  }

  /** @param unread the parts of the package that could not be read, or null */
  private async checkReferences(
    pkg: Parts,
    context: CheckContext,
    problems: PackageProblems,
    unread: UnreadParts | null,
  ): Promise<Pick<CheckedPackage, 'workflows' | 'processes'>> {
    const { appId } = context;
    const references = new References(pkg, context, problems, unread);
    const inputs = new WorkflowInputs(problems);
    const workflows = await new WorkflowsCheck(appId, references, problems, inputs).check(pkg.workflows);
    const outputs = new Map(
      pkg.workflows.flatMap(({ name, outputSchema }) =>
        outputSchema === null ? [] : [[name, outputSchema] as const],
      ),
    );
    const check = new ProcessesCheck(pkg, context, references, problems, inputs, unread);
    const processes = await check.check((file) => this.compiler.compile(file, { appId, outputs }));
    return { workflows, processes };
  }
}

/** The members of a node that contain references to systems and workflows. */
export type ReferringNode = Pick<WorkflowNode, 'type'> &
  Partial<Pick<WorkflowNode, 'payload' | 'subWorkflowResourceDefinitionId'>> & {
    aiOptions: { mcpServers: ResourceReference[] } | null;
  };

/**
 * Adds definition ids to references of checked workflows to systems and workflows of their own application, as in the contract. References
 * to names without an id stay unchanged.
 */
export function withDefinitionIds<Node extends ReferringNode, Workflow extends { nodes: Node[] }>(
  workflow: Workflow & { nodes: Node[] },
  appId: string,
  ids: DefinitionIds,
): Workflow {
  const withId = (reference: ResourceReference, kind: keyof DefinitionIds): ResourceReference =>
    reference.appId === appId && (reference.resourceDefinitionId ?? null) === null
      ? { ...reference, resourceDefinitionId: ids[kind].get(nameKey(reference.resourceName ?? '')) ?? null }
      : reference;
  return { ...workflow, nodes: workflow.nodes.map((node) => nodeWithIds(node, withId)) };
}

function nodeWithIds<Node extends ReferringNode>(
  node: Node,
  withId: (reference: ResourceReference, kind: keyof DefinitionIds) => ResourceReference,
): Node {
  const { aiOptions, payload } = node;
  switch (node.type) {
    case 'CUSTOM_AGENT':
      return aiOptions === null
        ? node
        : {
            ...node,
            aiOptions: {
              ...aiOptions,
              mcpServers: aiOptions.mcpServers.map((server) => withId(server, 'systems')),
            },
          };
    case 'REST_ENDPOINT':
    case 'DATA_SOURCE':
      return {
        ...node,
        payload: { ...payload, system: withId(payload?.['system'] as ResourceReference, 'systems') },
      };
    case 'SUBWORKFLOW': {
      const workflow = withId(payload?.['workflow'] as ResourceReference, 'workflows');
      return {
        ...node,
        payload: { ...payload, workflow },
        subWorkflowResourceDefinitionId: workflow.resourceDefinitionId ?? null,
      };
    }
    default:
      return node;
  }
}
