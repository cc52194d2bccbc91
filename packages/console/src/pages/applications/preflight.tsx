import type { JSX } from 'preact';
import type {
  PreflightNode,
  PreflightResponse,
  PreflightSystem,
  PreflightTool,
} from '../../../../client/src/index.js';
import type { Answer } from '../../live/use-answer.js';
import { Badge } from '../../parts/badge.js';
import { LongTable } from '../../parts/long-table.js';
import { Empty, Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { Table, type Column } from '../../parts/table.js';
import type { Tone } from '../../parts/tones.js';
import { texts } from '../../texts/texts.js';

const { applications } = texts;

/** Tool of a system with its state for each agent that uses the system. */
interface ToolRow {
  key: string;
  system: string;
  name: string;
  byAgent: ReadonlyMap<string, PreflightTool>;
}

/** Shows whether the agents of a build or version are ready, and the state of each tool with reasons. */
export function Preflight({ answer }: { answer: Answer<PreflightResponse> }): JSX.Element {
  return (
    <Section
      title={applications.preflight}
      isFlush
      actions={answer.data !== undefined && <Ready isReady={answer.data.ready} />}
    >
      <Shown answer={answer}>
        {({ nodes }) =>
          nodes.length === 0 ? <Empty title={applications.noAgents} /> : <Matrix nodes={nodes} />
        }
      </Shown>
    </Section>
  );
}

function Matrix({ nodes }: { nodes: readonly PreflightNode[] }): JSX.Element {
  const columns: readonly Column<ToolRow>[] = [
    { title: applications.tool, cell: ({ name }) => name },
    { title: applications.system, cell: ({ system }) => system, isExtra: true },
    ...nodes.map((node) => ({
      title: titleOf(node, nodes),
      cell: ({ byAgent }: ToolRow) => <Cell tool={byAgent.get(keyOf(node))} />,
    })),
  ];
  return (
    <>
      <Table caption={applications.agents} columns={AGENT_COLUMNS} rows={nodes} keyOf={keyOf} />
      <LongTable
        caption={applications.matrix}
        columns={columns}
        rows={rowsOf(nodes)}
        keyOf={({ key }) => key}
        textOf={({ name, system }) => `${name}\n${system}`}
        empty={<Empty title={applications.noTools} />}
      />
    </>
  );
}

const AGENT_COLUMNS: readonly Column<PreflightNode>[] = [
  { title: applications.agent, cell: ({ nodeName }) => nodeName },
  { title: applications.workflow, cell: ({ workflow }) => workflow },
  {
    title: applications.application,
    cell: ({ appId, appVersionId }) => `${appId} ${appVersionId}`,
    isExtra: true,
  },
  { title: applications.ready, cell: ({ ready }) => <Ready isReady={ready} />, isTight: true },
  { title: applications.reason, cell: (node) => <Reasons node={node} />, isText: true },
];

function Ready({ isReady }: { isReady: boolean }): JSX.Element {
  return (
    <Badge tone={isReady ? 'good' : 'bad'}>{isReady ? applications.isReady : applications.notReady}</Badge>
  );
}

function Reasons({ node: { reason, systems } }: { node: PreflightNode }): JSX.Element {
  const unready = systems.filter((system) => system.reason !== null);
  return (
    <>
      {reason !== null && <p>{reason}</p>}
      {unready.map((system) => (
        <p key={`${system.appId} ${system.resourceDefinitionId} ${system.resourceName}`}>
          {nameOf(system)}: {system.reason}
        </p>
      ))}
    </>
  );
}

const TONES: Readonly<Record<PreflightTool['state'], Tone>> = {
  READY: 'good',
  GONE: 'bad',
  CHANGED: 'warn',
  DISABLED: 'quiet',
  DISABLED_IN_BUILD: 'quiet',
};

function Cell({ tool }: { tool: PreflightTool | undefined }): JSX.Element {
  if (tool === undefined) {
    return (
      <span class="quiet" aria-label={applications.notUsed}>
        –
      </span>
    );
  }
  const badge = <Badge tone={TONES[tool.state]}>{applications.toolStates[tool.state]}</Badge>;
  return tool.reason === null ? (
    badge
  ) : (
    <details>
      <summary title={tool.reason}>{badge}</summary>
      {tool.reason}
    </details>
  );
}

function rowsOf(nodes: readonly PreflightNode[]): ToolRow[] {
  const rows = new Map<string, ToolRow & { byAgent: Map<string, PreflightTool> }>();
  for (const node of nodes) {
    for (const system of node.systems) {
      for (const tool of system.tools) {
        const key = tool.toolId;
        const row = rows.get(key) ?? { key, system: nameOf(system), name: tool.name, byAgent: new Map() };
        row.byAgent.set(keyOf(node), tool);
        rows.set(key, row);
      }
    }
  }
  return [...rows.values()];
}

function keyOf({ appId, appVersionId, buildId, workflow, nodeId }: PreflightNode): string {
  return [appId, appVersionId, buildId, workflow, nodeId].join('\n');
}

/** Returns the name of an agent, with its workflow if other agents have the same name. */
function titleOf(node: PreflightNode, nodes: readonly PreflightNode[]): string {
  const { nodeName, workflow, appId, nodeId } = node;
  const same = nodes.filter((other) => other.nodeName === nodeName);
  if (same.length === 1) {
    return nodeName;
  }
  const isEnough = same.filter((other) => other.workflow === workflow).length === 1;
  return isEnough ? `${nodeName} (${workflow})` : `${nodeName} (${appId}, ${workflow}, ${nodeId})`;
}

function nameOf({ appId, resourceName, resourceDefinitionId }: PreflightSystem): string {
  return `${resourceName === '' ? resourceDefinitionId : resourceName} (${appId})`;
}
