import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { AppVersionKey } from '../../../../apps/apps.types.js';
import { yieldEventLoop } from '#engine/support';
import {
  BuildWarningsService,
  type WarnedVersion,
} from '../../../../delivery/builds/making/build-warnings.service.js';
import type { PackageProblem } from '../../../../delivery/packages/model/package.types.js';
import { SystemsService } from '../../../../systems/registration/systems.service.js';
import { SystemType } from '../../../../systems/model/system.types.js';
import type { SystemState } from '../../../../systems/storage/system.entity.js';
import { ToolsService } from '../../../../systems/tools/switching/tools.service.js';
import { PreflightService } from './preflight.service.js';
import { type NodePreflight, ResolvedSystemState, type ResolvedSystem } from './resolution.types.js';
import { displayNameOf } from './system-name.js';

const TEST_PATH = 'rt/system/integrationengine/api/systems/test-mcp-connection';
const BY_COMMAND = 'The command "svc deliver" does both with --test-connections, --commit and --build.';

/**
 * Warns at commit and build of a version about MCP systems that were never tested, and about agents, including those of libraries,
 * with missing systems, no tools or too many tools.
 */
@Injectable()
export class VersionWarningsService implements OnModuleInit {
  constructor(
    private readonly preflight: PreflightService,
    private readonly systems: SystemsService,
    private readonly tools: ToolsService,
    private readonly warnings: BuildWarningsService,
  ) {}

  onModuleInit(): void {
    this.warnings.register((version) => this.warningsFor(version));
  }

  private async warningsFor(version: WarnedVersion): Promise<PackageProblem[]> {
    const { buildId, ...key } = version;
    const nodes = await (buildId === null
      ? this.preflight.ofVersion(key)
      : this.preflight.ofBuild(key.appId, buildId));
    // Systems used by an agent are reported with the agent.
    const reported = new Set<string | null>();
    const found: PackageProblem[] = [];
    for (const node of nodes) {
      node.systems.forEach(({ systemId }) => reported.add(systemId));
      warningsOf(node, version).forEach((warning) => found.push(warning));
      await yieldEventLoop();
    }
    const untested = (await this.neverTested(key)).filter(({ id }) => !reported.has(id));
    return [
      ...found,
      ...untested.map((system) => ({
        severity: 'warning' as const,
        code: 'SYSTEM_NEVER_TESTED',
        file: '',
        element: null,
        message: untestedMessage(system, version),
      })),
    ];
  }

  private async neverTested(version: AppVersionKey): Promise<SystemState[]> {
    const found: SystemState[] = [];
    for (const system of await this.systems.states(version)) {
      const isCandidate = system.type === SystemType.Mcp && system.toolsSynchronisedAt === null;
      if (isCandidate && (await this.tools.ofSystem(system.id)).length === 0) {
        found.push(system);
      }
    }
    return found.toSorted((one, other) => (one.resourceName < other.resourceName ? -1 : 1));
  }
}

function warningsOf(node: NodePreflight, version: WarnedVersion): PackageProblem[] {
  const { appId, workflow, file, nodeId, obstacle, systems, isLibrary } = node;
  // Files of a library are not files of the package.
  const place = isLibrary ? { file: '', element: null } : { file, element: nodeId };
  const where = isLibrary ? `In the library "${appId}", workflow "${workflow}", node "${nodeId}": ` : '';
  const warning = (code: string, message: string): PackageProblem => ({
    severity: 'warning',
    code,
    ...place,
    message: `${where}${message}`,
  });
  const ofSystems = systems.flatMap((system) => {
    if (system.state === ResolvedSystemState.Missing) {
      return [warning('AGENT_SYSTEM_MISSING', `The system "${displayNameOf(system)}" does not exist.`)];
    }
    return system.state === ResolvedSystemState.NeverTested
      ? [warning('AGENT_SYSTEM_NEVER_TESTED', untestedMessage(system, version))]
      : [];
  });
  // Untested systems are already reported one by one.
  return obstacle === null || obstacle.code === 'AGENT_SYSTEM_UNTESTED'
    ? ofSystems
    : [...ofSystems, warning(obstacle.code, obstacle.message)];
}

/** Describes the problem and its solution. */
function untestedMessage(
  system: Pick<ResolvedSystem, 'appId' | 'resourceName' | 'resourceDefinitionId'>,
  { appId, appVersionId, buildId }: WarnedVersion,
): string {
  const problem = `The connection of the system "${displayNameOf(system)}" was never tested, so a build has none of its tools.`;
  if (system.appId !== appId) {
    return `${problem} Test its connection in the application "${system.appId}", then make another build of that application and of this one.`;
  }
  const path = `/appmanager/api/runtime-internal/app/${appId}/app-version/${appVersionId}/${TEST_PATH}`;
  return `${problem} Test its connection (PATCH ${path}), then make ${buildId === null ? 'a' : 'another'} build. ${BY_COMMAND}`;
}
