import type { JSX } from 'preact';
import { may } from '../../app/permissions.js';
import { Badge } from '../../parts/badge.js';
import { Link } from '../../parts/button.js';
import { Empty, Note, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import { texts } from '../../texts/texts.js';
import type { KnownSystem } from './system.types.js';
import { useAgents, type AgentUse } from './use-agents.js';

const { systems } = texts;

const COLUMNS: readonly Column<AgentUse>[] = [
  { title: systems.agent, cell: ({ node }) => node.nodeName },
  { title: systems.workflow, cell: ({ node }) => <Link to={nodePath(node)}>{node.workflow}</Link> },
  { title: systems.ofApplication, cell: ({ node }) => `${node.appId} ${node.appVersionId}`, isExtra: true },
  { title: systems.where, cell: ({ buildId }) => whereOf(buildId) },
  { title: systems.ready, cell: (use) => <Readiness use={use} /> },
];

/** Describes where an agent uses the system. */
export function whereOf(buildId: string | null): string {
  return buildId === null ? systems.inVersion : systems.inBuild(buildId);
}

/** Path of a workflow node in the Applications area. */
function nodePath({ appId, appVersionId, workflow, nodeId }: AgentUse['node']): string {
  const [app, version, name] = [appId, appVersionId, workflow].map(encodeURIComponent);
  const query = new URLSearchParams({ node: nodeId });
  return `/applications/${app}/versions/${version}/workflows/${name}?${query.toString()}`;
}

/** Agents that use a system. */
export function Uses({ known }: { known: KnownSystem }): JSX.Element {
  const agents = useAgents(known);
  if (!may('application-delivery', known.path.appId)) {
    return (
      <Note>
        <p>{systems.usesHidden}</p>
      </Note>
    );
  }
  return (
    <Section title={systems.uses} isFlush>
      <Shown answer={agents}>
        {(uses) => (
          <Table
            caption={systems.usesLead}
            columns={COLUMNS}
            rows={uses}
            keyOf={({ buildId, node }) => [buildId, node.appId, node.workflow, node.nodeId].join('\n')}
            empty={<Empty title={systems.noUses} />}
          />
        )}
      </Shown>
    </Section>
  );
}

function Readiness({ use: { system } }: { use: AgentUse }): JSX.Element {
  const ready = system.tools.filter(({ state }) => state === 'READY').length;
  const others = system.tools.filter(({ reason }) => reason !== null);
  return (
    <>
      <Badge tone={ready > 0 ? 'good' : 'warn'}>{systems.readyTools(ready, system.tools.length)}</Badge>
      {system.reason !== null && <p>{system.reason}</p>}
      {others.length > 0 && (
        <details>
          <summary>{systems.notReady}</summary>
          <ul class="plain-list">
            {others.map((tool) => (
              <li key={tool.toolId}>
                {tool.name}: {tool.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
