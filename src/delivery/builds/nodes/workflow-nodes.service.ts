import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../../platform/user/principal.js';
import { canonicalJson } from '../../../platform/json/canonical-json.js';
import { matches, type IfMatch } from '../../../platform/http/conditional-requests.js';
import type { JsonObject } from '#engine/json';
import { ValidationFailedError } from '../../../platform/errors/request.errors.js';
import { inTurns } from '#engine/support';
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
import { storedWorkflows, untilUnmoved } from '../packages/stored-packages.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import type { ShownNode, ShownWorkflow, WorkflowSummaryDto } from './workflow-node.dto.js';
import type { NodeKey, WorkflowKey } from './workflow-node.params.dto.js';

/** What an edit does, and to what type of node. */
interface NodePlan {
  change: NodeChange;
  type: unknown;
}

/**
 * Workflows of application versions, and single nodes of them (docs/contract.md, section 5). They are part
 * of the package: an edit makes another package of it, held to all that a delivery is held to.
 */
@Injectable()
export class WorkflowNodesService {
  constructor(
    private readonly database: Database,
    private readonly packages: AppPackagesService,
    private readonly checks: PackageCheckService,
  ) {}

  /** The workflows of a version in the order of its package; none without one. Not inside of a transaction. */
  async list(version: AppVersionKey): Promise<WorkflowSummaryDto[]> {
    return (await storedWorkflows(this.database, version)).map((workflow) => summaryOf(version, workflow));
  }

  /** As `list`, each with its agent nodes. */
  async agents(version: AppVersionKey): Promise<AgentWorkflow[]> {
    const workflows = await inTurns(agentsOf(await storedWorkflows(this.database, version)));
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
      nodes: await this.identified(key.appId, text.name, await inTurns(text.nodes())),
    };
  }

  /** @throws WorkflowNotFoundError, WorkflowNodeNotFoundError */
  async node(key: NodeKey): Promise<ShownNode> {
    return this.nodeIn(await this.text(key), key);
  }

  /**
   * Adds a node.
   * @param body the node; an id that it lacks is given
   * @param onSequence a sequence that the node comes on, see `NodeEdit`
   * @throws WorkflowNotFoundError, WorkflowNodeExistsError, SequenceNotFoundError, PackageRefusedError, VersionCommittedError
   */
  async create(
    principal: Principal,
    key: WorkflowKey,
    body: JsonObject,
    onSequence: string | undefined,
  ): Promise<ShownNode> {
    const node: JsonObject = { ...body, id: body['id'] ?? uuid() };
    const of = { ...key, nodeId: String(node['id']) };
    await this.edit(principal, of, AuditAction.WorkflowNodeCreate, async (workflow) => {
      if ((await foundIn(workflow, of.nodeId)) !== undefined) {
        throw new WorkflowNodeExistsError();
      }
      return { change: { kind: 'add', node, onSequence }, type: node['type'] };
    });
    return this.node(of);
  }

  /**
   * Puts a node in the place of the one with its id.
   * @param ifMatch entity tags of what the caller may have read, or `*`
   * @throws WorkflowNotFoundError, WorkflowNodeNotFoundError, ValidationFailedError, PackageRefusedError
   * @throws WorkflowNodeChangedError, VersionCommittedError
   */
  async update(principal: Principal, key: NodeKey, ifMatch: IfMatch, body: JsonObject): Promise<ShownNode> {
    await this.edit(principal, key, AuditAction.WorkflowNodeUpdate, async (workflow) => {
      requireMatch(await this.nodeIn(workflow, key), ifMatch);
      if ((body['id'] ?? key.nodeId) !== key.nodeId) {
        throw new ValidationFailedError([{ field: 'id', rule: 'must be the id of the path or be left out' }]);
      }
      return { change: { kind: 'replace', node: { ...body, id: key.nodeId } }, type: body['type'] };
    });
    return this.node(key);
  }

  /**
   * Takes a node away; what led to it leads to where it led.
   * @param ifMatch as in `update`
   * @returns the node as it was
   * @throws as `update`
   */
  async remove(principal: Principal, key: NodeKey, ifMatch: IfMatch): Promise<ShownNode> {
    const { gone } = await this.edit(principal, key, AuditAction.WorkflowNodeDelete, async (workflow) => {
      const found = await this.nodeIn(workflow, key);
      requireMatch(found, ifMatch);
      return { change: { kind: 'remove', nodeId: key.nodeId }, type: found.node.type, gone: found };
    });
    return gone;
  }

  /** Another edit of the package in between is no conflict as long as it leaves the node alone. */
  private async edit<Plan extends NodePlan>(
    principal: Principal,
    key: NodeKey,
    action: AuditAction,
    plan: (workflow: WorkflowText<DraftNode>) => Promise<Plan>,
  ): Promise<Plan> {
    return untilUnmoved(async () => {
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
    const found = await foundIn(workflow, key.nodeId);
    const [node] = found === undefined ? [] : await this.identified(key.appId, workflow.name, [found]);
    if (node === undefined) {
      throw new WorkflowNodeNotFoundError();
    }
    return { node, workflowResourceId: idsOf(key, workflow.name).resourceId, etag: etagOf(node) };
  }

  /** Nodes whose references have definition ids. */
  private async identified<Node extends DraftNode | AgentNode>(
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

/** The systems that a node names. */
function systemNames({ aiOptions, ...node }: DraftNode | AgentNode): { resourceName: string }[] {
  const system = (('payload' in node ? node.payload : null)?.['system'] ?? {}) as JsonObject;
  return [...(aiOptions?.mcpServers ?? []), system].flatMap(({ resourceName }) =>
    typeof resourceName === 'string' ? [{ resourceName }] : [],
  );
}

async function foundIn(workflow: WorkflowText<DraftNode>, nodeId: string): Promise<DraftNode | undefined> {
  const nodes = await inTurns(workflow.nodes(nodeId));
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
