import type { JSX } from 'preact';
import type { WorkflowNodeRun } from '../../../../client/src/index.js';
import { Badge, State } from '../../parts/badge.js';
import { Duration } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Empty } from '../../parts/notes.js';
import { texts } from '../../texts/texts.js';

const t = texts.agentRuns;

/** Executed nodes of a run, in order. */
export function Nodes({ nodes }: { nodes: readonly WorkflowNodeRun[] }): JSX.Element {
  return nodes.length === 0 ? (
    <Empty title={t.noNodes} />
  ) : (
    <ol class="turns">
      {nodes.map((node, index) => (
        <li key={`${node.nodeId}-${index}`} class="turn">
          <NodeRun node={node} />
        </li>
      ))}
    </ol>
  );
}

function NodeRun({ node }: { node: WorkflowNodeRun }): JSX.Element {
  const { name, type, state, startedAt, finishedAt, input, output, omitted, missing, error } = node;
  return (
    <>
      <div class="turn-head">
        <h2>{name}</h2>
        <Badge>{type.toLowerCase().replaceAll('_', ' ')}</Badge>
        <State of={state} />
        <span class="quiet">
          <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
        </span>
      </div>
      {error !== null && <p class="is-bad">{error.message}</p>}
      {missing.length > 0 && <p class="is-warn">{t.missing(missing.join(', '))}</p>}
      {omitted.length > 0 && <p class="quiet">{t.omitted(omitted.join(', '))}</p>}
      <div class="columns">
        {input !== null && <JsonTree name={t.input} value={input} />}
        {output !== null && <JsonTree name={t.output} value={output} />}
      </div>
    </>
  );
}
