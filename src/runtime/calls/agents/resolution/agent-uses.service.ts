import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BuildReadsService } from '../../../../delivery/builds/contents/build-reads.service.js';
import type { AgentWorkflow } from '../../../../delivery/builds/model/workflow-text.js';
import { WorkflowNodesService } from '../../../../delivery/builds/nodes/workflow-nodes.service.js';
import { ToolsService } from '../../../../systems/tools/switching/tools.service.js';
import type { ToolUse, ToolUseFinder, UsedSystem } from '../../../../systems/tools/model/tool.types.js';

/** Maximum number of builds searched when a tool is enabled or disabled. */
const BUILDS = 20;
/** Maximum number of nodes returned. */
const USES = 100;

/** Finds the agent nodes affected when a tool is enabled or disabled. */
@Injectable()
export class AgentUsesService implements OnModuleInit {
  constructor(
    private readonly builds: BuildReadsService,
    private readonly nodes: WorkflowNodesService,
    private readonly tools: ToolsService,
  ) {}

  onModuleInit(): void {
    this.tools.findUsesWith((system, maySee) => this.usesOf(system, maySee));
  }

  private async usesOf(...[system, maySee]: Parameters<ToolUseFinder>): Promise<ToolUse[]> {
    const { appId, appVersionId } = system;
    const version = { appId, appVersionId };
    const found = usesIn(await this.nodes.agents(version), system, { ...version, buildId: null });
    const builds = await this.builds.ofVersionAndUsers(version, BUILDS);
    for (const build of builds.filter((one) => maySee(one.appId))) {
      if (found.length >= USES) {
        break;
      }
      const workflows = await this.builds.agents(build.appId, build.buildId);
      const place = { appId: build.appId, appVersionId: build.appVersionId, buildId: build.buildId };
      found.push(...usesIn(workflows, system, place));
    }
    return found.slice(0, USES);
  }
}

function usesIn(
  workflows: readonly AgentWorkflow[],
  { appId, resourceDefinitionId }: UsedSystem,
  place: Pick<ToolUse, 'appId' | 'appVersionId' | 'buildId'>,
): ToolUse[] {
  return workflows.flatMap(({ name: workflow, nodes }) =>
    nodes
      .filter(({ aiOptions }) =>
        aiOptions?.mcpServers.some(
          (server) =>
            (server.appId ?? place.appId) === appId && server.resourceDefinitionId === resourceDefinitionId,
        ),
      )
      .map(({ id: nodeId, name: nodeName }) => ({ ...place, workflow, nodeId, nodeName })),
  );
}
