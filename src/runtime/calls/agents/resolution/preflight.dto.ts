import { Answer, Shows } from '../../../../platform/openapi/answer-fields.decorators.js';
import { JsonText } from '../../../../platform/http/json-replies.js';
import type { YieldingWork } from '#engine/support';
import {
  type NodePreflight,
  ResolvedSystemState,
  ResolvedToolState,
  type ResolvedSystem,
  type ResolvedTool,
} from './resolution.types.js';
import { PreflightTooLargeError } from './preflight.errors.js';

/** Thousands of agents with thousands of tools each would exhaust the memory. */
const MAX_BYTES = 67_108_864;
const END_OF_NODE = Buffer.from('}');

export class PreflightToolDto extends Answer({
  toolId: Shows.uuid('Tool id.'),
  name: Shows.value('Tool name.', 'get-sum'),
  state: Shows.enum(
    'ResolvedToolState',
    ResolvedToolState,
    'Whether the agent may call it, or why not.',
    ResolvedToolState.Disabled,
  ),
  reason: Shows.textOrNull(
    'Human-readable reason why it is not ready; null if it is ready.',
    'It is disabled.',
  ),
}) {}

export class PreflightSystemDto extends Answer({
  appId: Shows.value('Application of the system.', 'sample'),
  resourceDefinitionId: Shows.value(
    'Definition id; empty if the node refers to it by name and it is missing.',
  ),
  resourceName: Shows.value('Resource name; empty if it is missing and the node refers to it by id.'),
  state: Shows.enum('ResolvedSystemState', ResolvedSystemState, 'Whether the agent can use it.'),
  reason: Shows.textOrNull('Human-readable reason why it cannot be used; null if it can.', null),
  tools: Shows.list(() => PreflightToolDto, 'Tools in the order of the server.'),
}) {}

export class PreflightNodeDto extends Answer({
  appId: Shows.value('Application of the node; differs from the path for a library.', 'sample'),
  appVersionId: Shows.value('Version of the node.', 'v1'),
  buildId: Shows.uuidOrNull('Build of the node; null for a node of the requested version.', null),
  workflow: Shows.value('Name of the workflow.', 'check_stock'),
  nodeId: Shows.value('Id of the node.', 'agent'),
  nodeName: Shows.value('Name of the node.', 'Check stock'),
  ready: Shows.flag(
    'Whether 1 to 128 tools are ready and all its systems were tested before the build was made.',
  ),
  reason: Shows.textOrNull('Human-readable reason why it is not ready; null if it is ready.', null),
  systems: Shows.list(() => PreflightSystemDto, 'Systems in the order of `mcpServers`.'),
}) {}

/** All agent nodes of a version or of a build, and of its libraries. */
export class PreflightResponseDto extends Answer({
  ready: Shows.flag('Whether every node is ready.', false),
  nodes: Shows.list(() => PreflightNodeDto, 'Nodes of type CUSTOM_AGENT; those of libraries come last.'),
}) {}

/** Writes the response as JSON; nodes with the same systems share their text. @throws PreflightTooLargeError */
export function* preflightJson(nodes: readonly NodePreflight[]): YieldingWork<JsonText> {
  const ready = nodes.every(({ obstacle }) => obstacle === null);
  const known = new Map<readonly ResolvedSystem[], Buffer>();
  const parts: Buffer[] = [Buffer.from(`{"ready":${ready},"nodes":[`)];
  let bytes = 0;
  for (const node of nodes) {
    const systems =
      known.get(node.systems) ??
      Buffer.from(JSON.stringify(node.systems.map((system) => toSystem(system, node))));
    known.set(node.systems, systems);
    const comma = parts.length === 1 ? '' : ',';
    const head = Buffer.from(`${comma}${JSON.stringify(toNode(node)).slice(0, -1)},"systems":`);
    bytes += head.length + systems.length;
    if (bytes > MAX_BYTES) {
      throw new PreflightTooLargeError();
    }
    parts.push(head, systems, END_OF_NODE);
    yield;
  }
  return new JsonText(Buffer.concat([...parts, Buffer.from(']}')]));
}

function toNode(node: NodePreflight): Omit<PreflightNodeDto, 'systems'> {
  const { appId, appVersionId, buildId, workflow, nodeId, nodeName, obstacle } = node;
  const reason = obstacle?.message ?? null;
  const ready = reason === null;
  return { appId, appVersionId, buildId, workflow, nodeId, nodeName, ready, reason };
}

function toSystem(system: ResolvedSystem, node: NodePreflight): PreflightSystemDto {
  const { appId, resourceDefinitionId, resourceName, state, tools } = system;
  const build = describeNeededBuilds(system, node);
  return {
    appId,
    resourceDefinitionId,
    resourceName,
    state,
    reason: systemReason(state, build),
    tools: tools.map((tool) => {
      const { toolId, name, state } = tool;
      return { toolId, name, state, reason: toolReason(tool, build) };
    }),
  };
}

/** Returns a description of the new builds that are needed to change the tools of a system. */
function describeNeededBuilds(system: ResolvedSystem, node: NodePreflight): string {
  return system.appId === node.appId && !node.isLibrary
    ? 'another build'
    : `another build of the library "${system.appId}", and one of the application that names it`;
}

/** Returns why an agent cannot use a system; null if it can. @param build description of the build to make */
export function systemReason(state: ResolvedSystemState, build: string): string | null {
  switch (state) {
    case ResolvedSystemState.Ready:
      return null;
    case ResolvedSystemState.Missing:
      return 'There is no such MCP system in the application or in its libraries.';
    case ResolvedSystemState.NeverTested:
      return 'Its connection was never tested, so its tools are not known.';
    case ResolvedSystemState.ToolsNotInBuild:
      return `It had no tools when the build was made; make ${build}.`;
  }
}

/** Returns why an agent may not call a tool; null if it may. @param build description of the build to make */
export function toolReason(
  { state, isEnabledNow }: Pick<ResolvedTool, 'state' | 'isEnabledNow'>,
  build: string,
): string | null {
  switch (state) {
    case ResolvedToolState.Ready:
      return null;
    case ResolvedToolState.Gone:
      return 'The server no longer lists it.';
    case ResolvedToolState.Changed:
      return 'Its definition changed and waits for review.';
    case ResolvedToolState.Disabled:
      return 'It is disabled.';
    case ResolvedToolState.DisabledInBuild:
      return isEnabledNow
        ? `It was disabled when the build was made; make ${build}.`
        : `It was disabled when the build was made, and is disabled now: enable it, then make ${build}.`;
  }
}
