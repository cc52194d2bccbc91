import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { WorkflowNode } from '../../../../client/src/index.js';
import { classNames } from '../../parts/class-names.js';
import { texts } from '../../texts/texts.js';
import { drawingOf, NODE_HEIGHT, NODE_WIDTH, type PlacedNode, type PlacedSequence } from './graph-layout.js';
import './graph.css';

const { applications } = texts;
/** Maximum length of a condition shown next to its line. */
const MAX_LABEL = 28;

interface GraphProps {
  name: string;
  nodes: readonly WorkflowNode[];
  chosen: string | undefined;
  onChoose: (nodeId: string) => void;
}

/** Workflow as a graph. Nodes are buttons in the order of the workflow, for use by keyboard. */
export function Graph({ name, nodes, chosen, onChoose }: GraphProps): JSX.Element {
  const {
    sequences,
    nodes: placed,
    width,
    height,
  } = useMemo(() => drawingOf(nodes, applications.otherwise), [nodes]);
  return (
    <div class="graph" role="region" aria-label={applications.graphOf(name)} tabIndex={0}>
      <div class="graph-canvas" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg class="graph-lines" width={width} height={height} aria-hidden="true">
          <defs>
            <marker
              id="graph-arrow"
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" class="graph-arrow" />
            </marker>
          </defs>
          {sequences.map((sequence) => (
            <Sequence key={sequence.id} sequence={sequence} />
          ))}
        </svg>
        {placed.map((one) => (
          <NodeBox key={one.node.id} placed={one} isChosen={one.node.id === chosen} onChoose={onChoose} />
        ))}
      </div>
    </div>
  );
}

function Sequence({ sequence: { line, label, labelX, labelY } }: { sequence: PlacedSequence }): JSX.Element {
  const shown = label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL)}…` : label;
  return (
    <g>
      <path d={line} class="graph-line" marker-end="url(#graph-arrow)" />
      {label !== '' && (
        <text x={labelX} y={labelY} class="graph-label">
          <title>{label}</title>
          {shown}
        </text>
      )}
    </g>
  );
}

function NodeBox({
  placed: { node, x, y },
  isChosen,
  onChoose,
}: {
  placed: PlacedNode;
  isChosen: boolean;
  onChoose: (nodeId: string) => void;
}): JSX.Element {
  return (
    <button
      type="button"
      class={classNames('graph-node', `graph-${node.type.toLowerCase()}`)}
      style={{ left: `${x}px`, top: `${y}px`, width: `${NODE_WIDTH}px`, height: `${NODE_HEIGHT}px` }}
      aria-pressed={isChosen}
      title={node.name}
      onClick={() => onChoose(node.id)}
    >
      <span class="graph-type">{applications.nodeTypes[node.type]}</span>
      <span class="graph-name">{node.name}</span>
    </button>
  );
}
