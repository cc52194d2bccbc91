import type { OfferedTool } from '../llm/model-client.types.js';
import {
  nameOf,
  ResolvedToolState,
  type ResolvedSystem,
  type ResolvedTool,
  ResolvedSystemState,
} from '../resolution/resolution.types.js';
import { agentLimits } from '../agent.limits.js';
import { toolNames } from '../llm/tool-names.js';
import { jsonSize } from '#engine/json';
import { WorkflowFailedError } from '../../workflows/model/workflows.errors.js';

/** A tool of the systems that an agent names, ready or not. */
export interface AgentTool {
  /** What the model calls it. */
  readonly name: string;
  readonly system: ResolvedSystem & { readonly systemId: string };
  readonly tool: ResolvedTool;
}

/** The tools of an agent by the names that the model has for them. */
export class AgentTools {
  /** Those that the model is shown, with their stored definitions. */
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

  /** Undefined when the model has made the name up. */
  find(name: string): AgentTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }
}

/** Systems and characters of a name that the message shows; the details have all. */
const SHOWN_SYSTEMS = 5;
const SHOWN_NAME = 64;

/**
 * Makes sure that an agent has tools, and not more than a model can choose from and is to be sent.
 * @throws WorkflowFailedError; its message says of the first systems why they bring none, its details of all
 */
export function requireTools(systems: readonly ResolvedSystem[], { offered }: AgentTools): void {
  const { tools: maxTools, toolsBytes: maxBytes } = agentLimits;
  const { length } = offered;
  if (length === 0) {
    const reasons = systems.map(whyNone);
    const details = reasons.join(' ');
    const shown = reasons.slice(0, SHOWN_SYSTEMS);
    const more = reasons.length > shown.length ? [`${reasons.length - shown.length} more.`] : [];
    const first = 'None of the MCP systems that the agent names has a tool that it may use.';
    const message = [first, ...shown, ...more].join(' ');
    throw new WorkflowFailedError('AGENT_NO_TOOLS', message, { details });
  }
  if (length > maxTools) {
    const message = `The systems of the agent have ${length} enabled tools, and may have ${maxTools}.`;
    throw new WorkflowFailedError('AGENT_TOO_MANY_TOOLS', message);
  }
  if (areLarger(offered, maxBytes)) {
    const message = `The definitions of the tools of the agent have more than ${maxBytes} bytes.`;
    throw new WorkflowFailedError('AGENT_TOO_MANY_TOOLS', message);
  }
}

/** Written one by one: together they can be very many. */
function areLarger(tools: AgentTools['offered'], maxBytes: number): boolean {
  let bytes = 0;
  return tools.some((tool) => (bytes += jsonSize(tool)) > maxBytes);
}

function whyNone(system: ResolvedSystem): string {
  const name = nameOf(system).slice(0, SHOWN_NAME);
  switch (system.state) {
    case ResolvedSystemState.Missing:
      return `${name} is not in the build.`;
    case ResolvedSystemState.NeverTested:
      return `The connection of ${name} was never tested.`;
    case ResolvedSystemState.ToolsNotInBuild:
      return `The build has no tools of ${name}: make another one.`;
    case ResolvedSystemState.Ready: {
      const states = Object.values(ResolvedToolState)
        .map((each) => [each, system.tools.filter((tool) => tool.state === each).length] as const)
        .filter(([, count]) => count > 0);
      return `${name}: ${states.map(([each, count]) => `${count} ${each}`).join(', ') || 'no tools'}.`;
    }
  }
}
