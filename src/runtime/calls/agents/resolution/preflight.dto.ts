import { ConflictError } from '../../../../platform/errors/domain.error.js';
import { Answer, Shows } from '../../../../platform/openapi/answer-fields.decorators.js';
import { JsonText } from '../../../../platform/http/json-replies.js';
import type { Steps } from '#engine/support';
import {
  type NodePreflight,
  ResolvedSystemState,
  ResolvedToolState,
  type ResolvedSystem,
  type ResolvedTool,
} from './resolution.types.js';

/** The answer would name more agents and tools than one answer can hold. */
export class PreflightTooLargeError extends ConflictError {
  readonly code = 'PREFLIGHT_TOO_LARGE';
  constructor() {
    super(
      'The agents and their tools are too many for one answer: divide the application, or give agents servers of fewer tools.',
    );
  }
}

/** Thousands of agents times thousands of tools would fit into no memory. */
const MOST_BYTES = 67_108_864;
const END_OF_NODE = Buffer.from('}');

export class PreflightToolDto extends Answer({
  toolId: Shows.uuid('Tool id.'),
  name: Shows.value('Tool name.', 'get-sum'),
  state: Shows.enum(
    'ResolvedToolState',
    ResolvedToolState,
    'Whether the agent may call it, and why not.',
    ResolvedToolState.Disabled,
  ),
  reason: Shows.textOrNull('Why it is not ready, for a person; null when it is.', 'It is disabled.'),
}) {}

export class PreflightSystemDto extends Answer({
  appId: Shows.value('Application that brings it.', 'sample'),
  resourceDefinitionId: Shows.value('Its definition id; empty when the node names it otherwise.'),
  resourceName: Shows.value('Its resource name; empty when it is missing and the node does not tell.'),
  state: Shows.enum('ResolvedSystemState', ResolvedSystemState, 'Whether the agent can use it at all.'),
  reason: Shows.textOrNull('Why it cannot be used, for a person; null when it can.', null),
  tools: Shows.list(() => PreflightToolDto, 'In the order of the list of its server.'),
}) {}

export class PreflightNodeDto extends Answer({
  appId: Shows.value(
    'Application that the node is of; another than that of the path for a library.',
    'sample',
  ),
  appVersionId: Shows.value('Version that the node is of.', 'v1'),
  buildId: Shows.uuidOrNull(
    'Build that the node is of; null for a node of the version that is asked for.',
    null,
  ),
  workflow: Shows.value('Name of the workflow.', 'check_stock'),
  nodeId: Shows.value('Id of the node.', 'agent'),
  nodeName: Shows.value('Name of the node.', 'Ask the stock'),
  ready: Shows.flag(
    'Whether a tool is ready, not too many of them, and each of its systems was tested before the build was made.',
  ),
  reason: Shows.textOrNull('Why it is not ready, for a person; null when it is.', null),
  systems: Shows.list(() => PreflightSystemDto, 'In the order of `mcpServers`.'),
}) {}

/** All agent nodes of a version or of a build, and of its libraries. */
export class PreflightResponseDto extends Answer({
  ready: Shows.flag('Whether every node is ready.', false),
  nodes: Shows.list(() => PreflightNodeDto, 'Nodes of type CUSTOM_AGENT, those of libraries last.'),
}) {}

/** Agents with the same systems share the text of these. @throws PreflightTooLargeError */
export function* preflightJson(nodes: readonly NodePreflight[]): Steps<JsonText> {
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
    if (bytes > MOST_BYTES) {
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
  const build = buildOf(system, node);
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

/** What must be built anew for other tools of a system: those of a library are in the build of the library. */
function buildOf(system: ResolvedSystem, node: NodePreflight): string {
  return system.appId === node.appId && !node.isLibrary
    ? 'another build'
    : `another build of the library "${system.appId}", and one of the application that names it`;
}

/** Why an agent cannot use a system; null when it can. @param build the one that would have its tools */
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

/** Why an agent must not call a tool; null when it may. @param build the one that would offer it */
export function toolReason(
  { state, isEnabledNow }: Pick<ResolvedTool, 'state' | 'isEnabledNow'>,
  build: string,
): string | null {
  switch (state) {
    case ResolvedToolState.Ready:
      return null;
    case ResolvedToolState.Gone:
      return 'The server does not list it any more.';
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
