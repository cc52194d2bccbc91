import type { OfferedTool } from '../llm/model-client.types.js';
import {
  ResolvedToolState,
  type ResolvedSystem,
  type ResolvedTool,
  ResolvedSystemState,
} from '../resolution/resolution.types.js';
import { displayNameOf } from '../resolution/system-name.js';
import { agentLimits } from '../agent.limits.js';
import { toolNames } from '../../../../platform/validation/tool-names.js';
import { jsonSize } from '#engine/json';
import { WorkflowFailedError } from '../../workflows/model/workflows.errors.js';

/** Tool of a system of an agent, ready or not. */
export interface AgentTool {
  /** Name for the model. */
  readonly name: string;
  readonly system: ResolvedSystem & { readonly systemId: string };
  readonly tool: ResolvedTool;
}

/** Tools of an agent by their names for the model. */
export class AgentTools {
  /** Ready tools with their stored definitions, as sent to the model. */
  readonly offered: readonly OfferedTool[];
  private readonly tools: readonly AgentTool[];

  constructor(systems: readonly ResolvedSystem[]) {
    const tools = systems
      .filter((system): system is AgentTool['system'] => system.systemId !== null)
      .flatMap((system) => system.tools.map((tool) => ({ system, tool })));
    const names = toolNames(tools.map(({ system, tool }) => ({ ...system, toolName: tool.name })));
    this.tools = tools.map((found, index) => ({ ...found, name: names[index] ?? '' }));
    this.offered = this.tools
      .filter(({ tool }) => tool.state === ResolvedToolState.Ready)
      .map(({ name, tool: { description, inputSchema: parameters } }) => ({
        name,
        description,
        parameters,
      }));
  }

  /** Finds a tool; undefined if the model has invented the name. */
  find(name: string): AgentTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }
}

/** Maximum number of systems, and characters of their names, in the message; the details list all. */
const SHOWN_SYSTEMS = 5;
const SHOWN_NAME = 64;

/**
 * Checks that an agent has tools, and not too many.
 * @throws WorkflowFailedError with the reason for the first systems in the message and for all in the details
 */
export function requireTools(systems: readonly ResolvedSystem[], { offered }: AgentTools): void {
  const { tools: maxTools, toolsBytes: maxBytes } = agentLimits;
  const { length } = offered;
  if (length === 0) {
    const reasons = systems.map(reasonForNoTools);
    const details = reasons.join(' ');
    const shown = reasons.slice(0, SHOWN_SYSTEMS);
    const more = reasons.length > shown.length ? [`${reasons.length - shown.length} more.`] : [];
    const first = 'None of the MCP systems that the agent names has a tool that it may use.';
    const message = [first, ...shown, ...more].join(' ');
    throw new WorkflowFailedError('AGENT_NO_TOOLS', message, { details });
  }
  if (length > maxTools) {
    const message = `The systems of the agent have ${length} enabled tools; at most ${maxTools} are allowed.`;
    throw new WorkflowFailedError('AGENT_TOO_MANY_TOOLS', message);
  }
  if (exceedBytes(offered, maxBytes)) {
    const message = `The definitions of the tools of the agent have more than ${maxBytes} bytes.`;
    throw new WorkflowFailedError('AGENT_TOO_MANY_TOOLS', message);
  }
}

/** Returns whether tool definitions exceed a size. Adds them one by one and stops early, because there may be many. */
function exceedBytes(tools: AgentTools['offered'], maxBytes: number): boolean {
  let bytes = 0;
  return tools.some((tool) => (bytes += jsonSize(tool)) > maxBytes);
}

function reasonForNoTools(system: ResolvedSystem): string {
  const name = displayNameOf(system).slice(0, SHOWN_NAME);
  switch (system.state) {
    case ResolvedSystemState.Missing:
      return `${name} is not in the build.`;
    case ResolvedSystemState.NeverTested:
      return `The connection of ${name} was never tested.`;
    case ResolvedSystemState.ToolsNotInBuild:
      return `The build has no tools of ${name}: make a new build.`;
    case ResolvedSystemState.Ready: {
      const states = Object.values(ResolvedToolState)
        .map((each) => [each, system.tools.filter((tool) => tool.state === each).length] as const)
        .filter(([, count]) => count > 0);
      return `${name}: ${states.map(([each, count]) => `${count} ${each}`).join(', ') || 'no tools'}.`;
    }
  }
}
