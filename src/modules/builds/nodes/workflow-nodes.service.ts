import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuid } from 'uuid';
import type { Principal } from '../../../common/user/principal.js';
import { canonicalJson } from '../../../common/canonical-json.js';
import type { JsonObject } from '../../../common/json.js';
import { ValidationFailedError } from '../../../common/errors/request.errors.js';
import { nameKey } from '../../../common/validation/resource-name.js';
import type { AppVersionKey } from '../../apps/apps.types.js';
import { AuditAction } from '../../audit/model/audit.types.js';
import { PackagesService } from '../../packages/packages.service.js';
import { AppPackagesService } from '../packages/app-packages.service.js';
import {
  PackageMovedError,
  WorkflowNodeChangedError,
  WorkflowNodeExistsError,
  WorkflowNodeNotFoundError,
  WorkflowNotFoundError,
} from '../model/builds.errors.js';
import type { DraftNode, DraftWorkflow } from '../model/draft-workflows.js';
import { added, removed, replaced, withNodes } from './node-edit.js';
import { PackageCheckService } from '../packages/package-check.service.js';
import { resourceId, workflowDefinitionId } from '../packages/resource-ids.js';
import type { IfMatch, NodeKey, ShownNode, ShownWorkflow, WorkflowKey } from './workflow-nodes.types.js';

/** How often an edit is made again because the package was changed by somebody else meanwhile. */
const ATTEMPTS = 5;

/** A change of the nodes of a workflow. */
interface NodeChange {
  action: AuditAction;
  details: Record<string, unknown>;
  change: (nodes: readonly JsonObject[]) => readonly JsonObject[];
}

/**
 * Workflows of application versions, and single nodes of them (docs/contract.md, section 5). They are part
 * of the package: an edit makes another package of it, held to all that a delivery is held to.
 */
@Injectable()
export class WorkflowNodesService {
  constructor(
    private readonly packages: AppPackagesService,
    private readonly checks: PackageCheckService,
    private readonly format: PackagesService,
  ) {}

  /** The workflows of a version in the order of its package; none without one. Not inside of a transaction. */
  async list(version: AppVersionKey): Promise<ShownWorkflow[]> {
    return this.shown(version, await this.packages.workflows(version));
  }

  /** @throws WorkflowNotFoundError */
  async workflow({ workflow, ...version }: WorkflowKey): Promise<ShownWorkflow> {
    const found = (await this.packages.workflows(version)).filter(isNamed(workflow));
    const [shown] = await this.shown(version, found);
    if (shown === undefined) {
      throw new WorkflowNotFoundError();
    }
    return shown;
  }

  /** @throws WorkflowNotFoundError, WorkflowNodeNotFoundError */
  async node({ nodeId, ...key }: NodeKey): Promise<ShownNode> {
    return nodeOf(await this.workflow(key), nodeId);
  }

  /**
   * Adds a node.
   * @param body the node; an id that it lacks is given
   * @param onSequence a sequence that the node comes on, see `added`
   * @throws WorkflowNotFoundError, WorkflowNodeExistsError, SequenceNotFoundError, PackageRefusedError, VersionCommittedError
   */
  async create(
    principal: Principal,
    key: WorkflowKey,
    body: JsonObject,
    onSequence: string | undefined,
  ): Promise<ShownNode> {
    const node: JsonObject = { ...body, id: body['id'] ?? uuid() };
    const nodeId = String(node['id']);
    return this.edited(principal, { ...key, nodeId }, (before) => {
      if (before.nodes.some(({ id }) => id === nodeId)) {
        throw new WorkflowNodeExistsError();
      }
      return {
        action: AuditAction.WorkflowNodeCreate,
        details: detailsOf(before, nodeId, node['type']),
        change: (nodes) => added(nodes, node, onSequence, uuid),
      };
    });
  }

  /**
   * Puts a node in the place of the one with its id.
   * @param ifMatch entity tags of what the caller may have read, or `*`
   * @throws WorkflowNotFoundError, WorkflowNodeNotFoundError, ValidationFailedError, PackageRefusedError
   * @throws WorkflowNodeChangedError, VersionCommittedError
   */
  async update(principal: Principal, key: NodeKey, ifMatch: IfMatch, body: JsonObject): Promise<ShownNode> {
    const { nodeId } = key;
    return this.edited(principal, key, (before) => {
      requireMatch(nodeOf(before, nodeId), ifMatch);
      if ((body['id'] ?? nodeId) !== nodeId) {
        throw new ValidationFailedError([{ field: 'id', rule: 'must be the id of the path or be left out' }]);
      }
      return {
        action: AuditAction.WorkflowNodeUpdate,
        details: detailsOf(before, nodeId, body['type']),
        change: (nodes) => replaced(nodes, { ...body, id: nodeId }),
      };
    });
  }

  /**
   * Takes a node away; what led to it leads to where it led.
   * @param ifMatch as in `update`
   * @returns the node as it was
   * @throws as `update`
   */
  async remove(principal: Principal, key: NodeKey, ifMatch: IfMatch): Promise<ShownNode> {
    const { nodeId } = key;
    return this.attempted(async () => {
      const { before, document, edited } = await this.open(key);
      const gone = nodeOf(before, nodeId);
      requireMatch(gone, ifMatch);
      const event = {
        action: AuditAction.WorkflowNodeDelete,
        details: detailsOf(before, nodeId, gone.node.type),
      };
      const next = withNodes(document, before.name, (nodes) => removed(nodes, nodeId));
      await this.packages.replace(principal, key, { document: next, edited, event });
      return gone;
    });
  }

  private async edited(
    principal: Principal,
    key: NodeKey,
    plan: (before: ShownWorkflow) => NodeChange,
  ): Promise<ShownNode> {
    await this.attempted(async () => {
      const { before, document, edited } = await this.open(key);
      const { change, ...event } = plan(before);
      const next = withNodes(document, before.name, change);
      await this.packages.replace(principal, key, { document: next, edited, event });
    });
    return this.node(key);
  }

  /** Another edit of the package in between is no conflict as long as it leaves the node alone. */
  private async attempted<Result>(edit: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await edit();
      } catch (error) {
        if (!(error instanceof PackageMovedError) || attempt >= ATTEMPTS) {
          throw error;
        }
      }
    }
  }

  private async open({ workflow, ...version }: WorkflowKey): Promise<{
    before: ShownWorkflow;
    document: Record<string, unknown>;
    edited: string;
  }> {
    const stored = await this.packages.find(version);
    const before = await this.workflow({ workflow, ...version });
    if (stored === null) {
      throw new WorkflowNotFoundError();
    }
    return { before, document: stored.document, edited: stored.checksum };
  }

  private async shown(version: AppVersionKey, workflows: DraftWorkflow[]): Promise<ShownWorkflow[]> {
    const { appId } = version;
    const references = workflows.flatMap(({ nodes }) => nodes.flatMap(systemNames));
    const ids = await this.checks.definitionIds(appId, { systems: references, workflows });
    return workflows.map((workflow) => {
      const resourceDefinitionId = workflowDefinitionId(appId, workflow.name);
      const identified = this.format.withDefinitionIds(workflow, appId, ids);
      return { ...identified, resourceDefinitionId, resourceId: resourceId(version, resourceDefinitionId) };
    });
  }
}

/** The systems that a node names. */
function systemNames({ aiOptions, payload }: DraftNode): { resourceName: string }[] {
  const system = (payload?.['system'] ?? {}) as JsonObject;
  return [...(aiOptions?.mcpServers ?? []), system].flatMap(({ resourceName }) =>
    typeof resourceName === 'string' ? [{ resourceName }] : [],
  );
}

function nodeOf({ nodes, resourceId: workflowResourceId }: ShownWorkflow, nodeId: string): ShownNode {
  const node = nodes.find(({ id }) => id === nodeId);
  if (node === undefined) {
    throw new WorkflowNodeNotFoundError();
  }
  return { node, workflowResourceId, etag: etagOf(node) };
}

function etagOf(node: DraftNode): string {
  return `"${createHash('sha256').update(canonicalJson(node)).digest('hex')}"`;
}

function requireMatch({ etag }: ShownNode, ifMatch: IfMatch): void {
  if (ifMatch !== '*' && !ifMatch.includes(etag)) {
    throw new WorkflowNodeChangedError();
  }
}

function detailsOf({ name }: DraftWorkflow, nodeId: string, type: unknown): Record<string, unknown> {
  return { workflow: name, node: nodeId, type: typeof type === 'string' ? type : null };
}

function isNamed(workflow: string): (candidate: DraftWorkflow) => boolean {
  return ({ name }) => nameKey(name) === nameKey(workflow);
}
