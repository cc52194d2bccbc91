import type { JSX } from 'preact';
import type { ToolResponse } from '../../../../client/src/index.js';
import { mayUse } from '../../app/permissions.js';
import { Dialog } from '../../parts/dialog.js';
import { Facts, Id } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Shown } from '../../parts/notes.js';
import { texts } from '../../texts/texts.js';
import { CallTool } from './call-tool.js';
import type { KnownSystem } from './system.types.js';
import { useAgents, type AgentUse } from './use-agents.js';
import { whereOf } from './uses.js';

const { systems } = texts;

interface ToolDialogProps {
  known: KnownSystem;
  tool: ToolResponse;
  onClose: () => void;
}

/** Details of a tool: description, schemas, agents that use it, and a form to call it. */
export function ToolDialog({ known, tool, onClose }: ToolDialogProps): JSX.Element {
  const agents = useAgents(known);
  return (
    <Dialog title={tool.name} isWide onClose={onClose}>
      <p class="preserved">{tool.description}</p>
      <Facts
        facts={[
          [systems.enabled, tool.enabled ? texts.parts.yes : texts.parts.no],
          [texts.parts.id, <Id key="id" value={tool.id} />],
          [
            systems.usedBy,
            <Shown key="uses" answer={agents}>
              {(uses) => <UsedBy uses={usesOf(uses, tool)} />}
            </Shown>,
          ],
        ]}
      />
      {tool.enabled && mayUse('toolCall', known.path.appId) && (
        <details>
          <summary>{systems.callTitle}</summary>
          <div class="stack">
            <CallTool known={known} tool={tool} />
          </div>
        </details>
      )}
      <h3>{systems.inputSchema}</h3>
      <JsonTree value={tool.inputSchema} openDepth={3} />
      <h3>{systems.outputSchema}</h3>
      {Object.keys(tool.outputSchema).length === 0 ? (
        <p class="quiet">{systems.noOutputSchema}</p>
      ) : (
        <JsonTree value={tool.outputSchema} openDepth={3} />
      )}
    </Dialog>
  );
}

function UsedBy({ uses }: { uses: readonly AgentUse[] }): JSX.Element {
  return uses.length === 0 ? (
    <span class="quiet">{systems.usedByNone}</span>
  ) : (
    <ul class="plain-list">
      {uses.map(({ buildId, node }) => (
        <li key={`${buildId} ${node.workflow} ${node.nodeId}`}>
          {node.workflow} · {node.nodeName} <span class="quiet">({whereOf(buildId)})</span>
        </li>
      ))}
    </ul>
  );
}

function usesOf(uses: readonly AgentUse[], tool: ToolResponse): AgentUse[] {
  return uses.filter(({ system }) =>
    system.tools.some(({ toolId, state }) => toolId === tool.id && state === 'READY'),
  );
}
