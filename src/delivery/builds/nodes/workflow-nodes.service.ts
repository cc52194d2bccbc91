import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../../platform/user/principal.js';
import { canonicalJson } from '../../../platform/json/canonical-json.js';
import { matches, type IfMatch } from '../../../platform/http/conditional-requests.js';
import type { JsonObject } from '#engine/json';
import { ValidationFailedError } from '../../../platform/errors/request.errors.js';
import { runYielding } from '#engine/support';
import { nameKey } from '../../../platform/validation/resource-name.js';
import { Database } from '../../../store/database.js';
import type { AppVersionKey } from '../../../apps/apps.types.js';
import { AuditAction } from '../../../audit/model/audit.types.js';
import type { DraftNode } from '../../packages/drafts/draft-workflows.js';
import type { NodeChange } from '../../packages/drafts/node-edit.js';
import { resourceId, workflowDefinitionId } from '../../../platform/validation/resource-ids.js';
import { withDefinitionIds } from '../../packages/packages.service.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import {
  WorkflowNodeChangedError,
  WorkflowNodeExistsError,
  WorkflowNodeNotFoundError,
  WorkflowNotFoundError,
} from '../model/builds.errors.js';
import { agentsOf, type AgentNode, type AgentWorkflow, type WorkflowText } from '../model/workflow-text.js';
import { storedWorkflows, retryIfMoved } from '../packages/stored-packages.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import type { ShownNode, ShownWorkflow, WorkflowSummaryDto } from './workflow-node.dto.js';
import type { NodeKey, WorkflowKey } from './workflow-node.params.dto.js';

/** An edit, and the type of the node that it changes. */
interface NodePlan {
  change: NodeChange;
  type: unknown;
}

/**
 * Reads and edits workflows of application versions and their nodes (docs/contract.md, section 5). They are part of the package, so an edit
 * replaces the package and must pass the checks of a delivery.
 */
@Injectable()
export class WorkflowNodesService {
  constructor(
    private readonly database: Database,
    private readonly packages: AppPackagesService,
    private readonly checks: PackageCheckService,
  ) {}

  /** Lists the workflows of a version in the order of its package; empty without one. Not for use inside a transaction. */
  async list(version: AppVersionKey): Promise<WorkflowSummaryDto[]> {
    return (await storedWorkflows(this.database, version)).map((workflow) => summaryOf(version, workflow));
  }

  /** Lists the workflows like `list`, each with its agent nodes. */
  async agents(version: AppVersionKey): Promise<AgentWorkflow[]> {
    const workflows = await runYielding(agentsOf(await storedWorkflows(this.database, version)));
    const { appId } = version;
    const systems = workflows.flatMap(({ nodes }) => nodes.flatMap(systemNames));
    const ids = await this.checks.definitionIds(appId, { systems, workflows: [] });
    return workflows.map((workflow) => withDefinitionIds(workflow, appId, ids));
  }

  /** @throws WorkflowNotFoundError */
  async require(key: WorkflowKey): Promise<void> {
    await this.text(key);
  }

  /** @throws WorkflowNotFoundError */
  async workflow(key: WorkflowKey): Promise<ShownWorkflow> {
    const text = await this.text(key);
    return {
      ...summaryOf(key, text),
      inputSchema: text.read('inputSchema') as JsonObject | null,
      outputSchema: text.read('outputSchema') as JsonObject | null,
      nodes: await this.withIds(key.appId, text.name, await runYielding(text.nodes())),
    };
  }

  /** @throws WorkflowNotFoundError, WorkflowNodeNotFoundError */
  async node(key: NodeKey): Promise<ShownNode> {
    return this.nodeIn(await this.text(key), key);
  }

  /**
   * Adds a node.
   * @param body the node; a missing id is generated
   * @param onSequence the sequence into which to insert the node, see `NodeEdit`
   * @throws WorkflowNotFoundError, WorkflowNodeExistsError, SequenceNotFoundError, PackageRefusedError, VersionCommittedError
   */
  async create(
    principal: Principal,
    key: WorkflowKey,
    body: JsonObject,
    onSequence: string | undefined,
  ): Promise<ShownNode> {
    const node: JsonObject = { ...body, id: body['id'] ?? uuid() };
    const nodeKey = { ...key, nodeId: String(node['id']) };
    await this.edit(principal, nodeKey, AuditAction.WorkflowNodeCreate, async (workflow) => {
      if ((await findNode(workflow, nodeKey.nodeId)) !== undefined) {
        throw new WorkflowNodeExistsError();
      }
      return { change: { kind: 'add', node, onSequence }, type: node['type'] };
    });
    return this.node(nodeKey);
  }

  /**
   * Replaces the node with the given id.
   * @param ifMatch entity tags of states that the caller may have read, or `*`
   * @throws WorkflowNotFoundError, WorkflowNodeNotFoundError, ValidationFailedError, PackageRefusedError
   * @throws WorkflowNodeChangedError, VersionCommittedError
   */
  async update(principal: Principal, key: NodeKey, ifMatch: IfMatch, body: JsonObject): Promise<ShownNode> {
    await this.edit(principal, key, AuditAction.WorkflowNodeUpdate, async (workflow) => {
      requireMatch(await this.nodeIn(workflow, key), ifMatch);
      if ((body['id'] ?? key.nodeId) !== key.nodeId) {
        throw new ValidationFailedError([{ field: 'id', rule: 'must be the id in the path or be omitted' }]);
      }
      return { change: { kind: 'replace', node: { ...body, id: key.nodeId } }, type: body['type'] };
    });
    return this.node(key);
  }

  /**
   * Deletes a node. Sequences to it then lead to its target.
   * @param ifMatch as in `update`
   * @returns the node as it was
   * @throws as `update`
   */
  async remove(principal: Principal, key: NodeKey, ifMatch: IfMatch): Promise<ShownNode> {
    const { removed } = await this.edit(principal, key, AuditAction.WorkflowNodeDelete, async (workflow) => {
      const found = await this.nodeIn(workflow, key);
      requireMatch(found, ifMatch);
      return { change: { kind: 'remove', nodeId: key.nodeId }, type: found.node.type, removed: found };
    });
    return removed;
  }

  /** Edits the package. Concurrent edits conflict only if they change the same node. */
  private async edit<Plan extends NodePlan>(
    principal: Principal,
    key: NodeKey,
    action: AuditAction,
    plan: (workflow: WorkflowText<DraftNode>) => Promise<Plan>,
  ): Promise<Plan> {
    return retryIfMoved(async () => {
      const edited = await this.packages.checksum(key);
      const text = await this.text(key);
      const planned = await plan(text);
      if (edited === null) {
        throw new WorkflowNotFoundError();
      }
      const workflow = text.name;
      const type = typeof planned.type === 'string' ? planned.type : null;
      await this.packages.replace(principal, key, {
        edit: { ...planned.change, workflow },
        event: { action, details: { workflow, node: key.nodeId, type } },
        edited,
      });
      return planned;
    });
  }

  /** @throws WorkflowNotFoundError */
  private async text({ workflow, ...version }: WorkflowKey): Promise<WorkflowText<DraftNode>> {
    const workflows = await storedWorkflows(this.database, version);
    const found = workflows.find(({ name }) => nameKey(name) === nameKey(workflow));
    if (found === undefined) {
      throw new WorkflowNotFoundError();
    }
    return found;
  }

  /** @throws WorkflowNodeNotFoundError */
  private async nodeIn(workflow: WorkflowText<DraftNode>, key: NodeKey): Promise<ShownNode> {
    const found = await findNode(workflow, key.nodeId);
    const [node] = found === undefined ? [] : await this.withIds(key.appId, workflow.name, [found]);
    if (node === undefined) {
      throw new WorkflowNodeNotFoundError();
    }
    return { node, workflowResourceId: idsOf(key, workflow.name).resourceId, etag: etagOf(node) };
  }

  /** Adds definition ids to the references of nodes. */
  private async withIds<Node extends DraftNode | AgentNode>(
    appId: string,
    workflow: string,
    nodes: readonly Node[],
  ): Promise<Node[]> {
    const ids = await this.checks.definitionIds(appId, {
      systems: nodes.flatMap(systemNames),
      workflows: [{ name: workflow }],
    });
    return withDefinitionIds({ nodes: [...nodes] }, appId, ids).nodes;
  }
}

/** Returns the systems that a node names. */
function systemNames({ aiOptions, ...node }: DraftNode | AgentNode): { resourceName: string }[] {
  const system = (('payload' in node ? node.payload : null)?.['system'] ?? {}) as JsonObject;
  return [...(aiOptions?.mcpServers ?? []), system].flatMap(({ resourceName }) =>
    typeof resourceName === 'string' ? [{ resourceName }] : [],
  );
}

async function findNode(workflow: WorkflowText<DraftNode>, nodeId: string): Promise<DraftNode | undefined> {
  const nodes = await runYielding(workflow.nodes(nodeId));
  return nodes.find(({ id }) => id === nodeId);
}

function idsOf(
  { appId, appVersionId }: AppVersionKey,
  workflow: string,
): Pick<WorkflowSummaryDto, 'resourceId' | 'resourceDefinitionId'> {
  const resourceDefinitionId = workflowDefinitionId(appId, workflow);
  return { resourceDefinitionId, resourceId: resourceId({ appId, appVersionId }, resourceDefinitionId) };
}

function summaryOf(version: AppVersionKey, workflow: WorkflowText<DraftNode>): WorkflowSummaryDto {
  const { name, nodeCount } = workflow;
  return { name, description: workflow.read('description') as string, nodeCount, ...idsOf(version, name) };
}

function etagOf(node: DraftNode): string {
  return `"${createHash('sha256').update(canonicalJson(node)).digest('hex')}"`;
}

function requireMatch({ etag }: ShownNode, ifMatch: IfMatch): void {
  if (!matches(ifMatch, etag)) {
    throw new WorkflowNodeChangedError();
  }
}
