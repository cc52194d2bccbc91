import { WorkflowFailedError } from '../../workflows/model/workflows.errors.js';
import type { AgentTools } from './agent-tools.js';
import {
  ResolvedSystemState,
  ResolvedToolState,
  type ResolvedSystem,
} from '../resolution/resolution.types.js';

/** Systems and characters of a name that the message shows; the details have all. */
const SHOWN_SYSTEMS = 5;
const SHOWN_NAME = 64;

/**
 * Makes sure that an agent has tools, and not more than a model can choose from.
 * @throws WorkflowFailedError; its message says of the first systems why they bring none, its details of all
 */
export function requireTools(systems: readonly ResolvedSystem[], tools: AgentTools, maxTools: number): void {
  const { length } = tools.offered;
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
    const message = `The systems of the agent have ${length} enabled tools: AGENT_MAX_TOOLS is ${maxTools}.`;
    throw new WorkflowFailedError('AGENT_TOO_MANY_TOOLS', message);
  }
}

function whyNone({ state, resourceName, resourceDefinitionId, tools }: ResolvedSystem): string {
  const name = (resourceName === '' ? resourceDefinitionId : resourceName).slice(0, SHOWN_NAME);
  switch (state) {
    case ResolvedSystemState.Missing:
      return `${name} is not in the build.`;
    case ResolvedSystemState.NeverTested:
      return `The connection of ${name} was never tested.`;
    case ResolvedSystemState.ToolsNotInBuild:
      return `The build has no tools of ${name}: make another one.`;
    case ResolvedSystemState.Ready: {
      const states = Object.values(ResolvedToolState)
        .map((each) => [each, tools.filter((tool) => tool.state === each).length] as const)
        .filter(([, count]) => count > 0);
      return `${name}: ${states.map(([each, count]) => `${count} ${each}`).join(', ') || 'no tools'}.`;
    }
  }
}
