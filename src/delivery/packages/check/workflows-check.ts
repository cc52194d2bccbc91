import { v5 as uuidV5 } from 'uuid';
import { yieldEventLoop } from '#engine/support';
import { nameKey } from '../../../platform/validation/resource-name.js';
import { pointerTo, type PackageProblems } from '../model/package-problems.js';
import type { PackageWorkflow, WorkflowNode } from '../model/package.types.js';
import { subworkflowPayloadSchema } from '../schema/node-payload.schema.js';
import { requireUniqueNames } from './names.js';
import type { References } from './references.js';
import { checkSchema } from './schema-check.js';
import { findCycle, WorkflowFlow } from './workflow-flow.js';
import { membersOf, type WorkflowInputs } from './workflow-input.js';
import { checkWorkflowNames } from './workflow-names.js';
import { WorkflowNodeCheck } from './workflow-node-check.js';

/** Namespace of the UUIDs of workflow nodes (RFC 9562, section 5.5). Changing it would change every UUID. */
const NODE_NAMESPACE = '5f0c1c0e-0b0f-4a37-9f0e-3a7d1f7b6c21';

/** Checks the workflows of a package, individually and together. */
export class WorkflowsCheck {
  constructor(
    private readonly appId: string,
    private readonly references: References,
    private readonly problems: PackageProblems,
    private readonly inputs: WorkflowInputs,
  ) {}

  /** Returns the workflows with resolved references and a UUID for every node. */
  async check(workflows: readonly PackageWorkflow[]): Promise<PackageWorkflow[]> {
    const names = workflows.map(({ name, file }) => ({ name, file, element: '/name' }));
    requireUniqueNames('workflows', 'WORKFLOW_NAME_NOT_UNIQUE', names, this.problems);
    const checked: PackageWorkflow[] = [];
    for (const workflow of workflows) {
      checked.push(await this.checkWorkflow(workflow));
    }
    this.checkRecursion(checked);
    this.checkInputs(checked);
    return checked;
  }

  private async checkWorkflow(workflow: PackageWorkflow): Promise<PackageWorkflow> {
    const { file, nodes } = workflow;
    for (const name of ['inputSchema', 'outputSchema'] as const) {
      const schema = workflow[name];
      if (schema !== null) {
        checkSchema(schema, `"${name}"`, { file, element: pointerTo([name]) }, this.problems);
      }
    }
    new WorkflowFlow(workflow, this.problems).check();
    const check = new WorkflowNodeCheck(file, this.references, this.problems);
    const checked: WorkflowNode[] = [];
    for (const node of nodes) {
      checked.push(this.withUuid(workflow, check.check(node)));
      await yieldEventLoop();
    }
    checkWorkflowNames(workflow, this.problems);
    return { ...workflow, nodes: checked };
  }

  /** Checks the input of subworkflows of the package. */
  private checkInputs(workflows: readonly PackageWorkflow[]): void {
    const named = new Map(workflows.map((workflow) => [nameKey(workflow.name), workflow]));
    for (const { file, nodes } of workflows) {
      for (const { id, type, inputBody, payload } of nodes) {
        const called = type === 'SUBWORKFLOW' ? this.targetWorkflow(payload) : undefined;
        const workflow = called === undefined ? undefined : named.get(called);
        if (workflow !== undefined) {
          const place = { file, element: id };
          this.inputs.check({ given: membersOf(inputBody), what: '"inputBody"', place }, workflow);
        }
      }
    }
  }

  /** Adds the UUID of a node, which is the same in all versions. */
  private withUuid({ name }: PackageWorkflow, node: WorkflowNode): WorkflowNode {
    const { svcUuid } = node;
    const given = svcUuid?.toLowerCase();
    return {
      ...node,
      svcUuid: given ?? uuidV5(JSON.stringify([this.appId, nameKey(name), node.id]), NODE_NAMESPACE),
    };
  }

  /**
   * Rejects workflows that start themselves, directly or through others, because they would never end. Libraries cannot start workflows of
   * the package.
   */
  private checkRecursion(workflows: readonly PackageWorkflow[]): void {
    const started = new Map(
      workflows.map((workflow) => [nameKey(workflow.name), this.startedWorkflows(workflow)]),
    );
    for (const { name, file } of workflows) {
      const key = nameKey(name);
      if (findCycle(key, (vertex) => started.get(vertex) ?? [], new Set()) === key) {
        const message = `Workflow "${name}" starts itself, directly or through another workflow.`;
        this.problems.error('WORKFLOW_RECURSION', { file, element: null }, message);
      }
    }
  }

  private startedWorkflows({ nodes }: PackageWorkflow): string[] {
    return nodes
      .filter(({ type }) => type === 'SUBWORKFLOW')
      .flatMap(({ payload }) => this.targetWorkflow(payload) ?? []);
  }

  /** Returns the name of the package's workflow that a SUBWORKFLOW node starts, normalized by `nameKey`. */
  private targetWorkflow(payload: WorkflowNode['payload']): string | undefined {
    const workflow = subworkflowPayloadSchema.safeParse(payload).data?.workflow;
    return workflow?.appId === this.appId ? nameKey(workflow.resourceName ?? '') : undefined;
  }
}
