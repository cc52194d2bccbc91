import type { OfferedTool } from '../llm/model-client.types.js';
import {
  ResolvedToolState,
  type FoundSystem,
  type ResolvedSystem,
  type ResolvedTool,
} from '../resolution/resolution.types.js';
import { toolNames } from '../llm/tool-names.js';

/** A tool of the systems that an agent names, ready or not. */
export interface AgentTool {
  /** What the model calls it. */
  readonly name: string;
  readonly system: FoundSystem;
  readonly tool: ResolvedTool;
}

/** The tools of an agent by the names that the model has for them. */
export class AgentTools {
  /** Those that the model is shown, with their stored definitions. */
  readonly offered: readonly OfferedTool[];
  private readonly tools: readonly AgentTool[];

  constructor(systems: readonly ResolvedSystem[]) {
    const tools = systems
      .filter((system): system is FoundSystem => system.systemId !== null)
      .flatMap((system) => system.tools.map((tool) => ({ system, tool })));
    const names = toolNames(
      tools.map(({ system, tool: { name: toolName } }) => {
        const { appId, resourceDefinitionId, resourceName } = system;
        return { appId, resourceDefinitionId, resourceName, toolName };
      }),
    );
    this.tools = tools.map((found, index) => ({ ...found, name: names[index] ?? '' }));
    this.offered = this.tools
      .filter(({ tool }) => tool.state === ResolvedToolState.Ready)
      .map(({ name, tool: { description, inputSchema } }) => ({
        name,
        description,
        parameters: inputSchema,
      }));
  }

  /** Undefined when the model has made the name up. */
  find(name: string): AgentTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }
}
