import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Workflow } from '../../../../client/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Shown } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { crumbsTo, versionPath } from './application-paths.js';
import { Graph } from './graph.js';
import { NewNode } from './new-node.js';
import { NodeView } from './node-view.js';
import { useVersionState } from '../../live/use-version-state.js';

const { applications } = texts;

/** One workflow: its graph, nodes and schemas. */
export function Page({ params, query }: PageProps): JSX.Element {
  const appId = params['appId'] ?? '';
  const versionId = params['versionId'] ?? '';
  const workflowName = params['workflowName'] ?? '';
  const path = { appId, versionId, workflowName };
  const workflow = useAnswer(
    async (signal) => (await api().getWorkflow({ path, signal })).data,
    Object.values(path),
  );
  const nodeId = query.get('node') ?? undefined;
  const isDraft = useVersionState(appId, versionId).data === 'DRAFT';
  const [isAdding, setIsAdding] = useState(false);
  return (
    <>
      <PageHead
        title={workflowName}
        lead={workflow.data?.description === '' ? undefined : workflow.data?.description}
        crumbs={crumbsTo(appId, { title: versionId, to: versionPath(appId, versionId) })}
      />
      <Shown answer={workflow}>
        {({ name, nodes, inputSchema, outputSchema }) => (
          <>
            <Section
              title={applications.graph}
              isFlush
              actions={isDraft && <Button onClick={() => setIsAdding(true)}>{applications.addNode}</Button>}
            >
              <Graph name={name} nodes={nodes} chosen={nodeId} onChoose={(id) => setQuery({ node: id })} />
            </Section>
            {nodes.some(({ id }) => id === nodeId) && nodeId !== undefined ? (
              <NodeView
                key={nodeId}
                path={{ ...path, nodeId }}
                isDraft={isDraft}
                onChanged={workflow.reload}
              />
            ) : (
              <p class="quiet">{applications.chooseNode}</p>
            )}
            <Schemas input={inputSchema} output={outputSchema} />
          </>
        )}
      </Shown>
      {isAdding && workflow.data !== undefined && (
        <NewNode
          path={path}
          workflow={workflow.data}
          onAdded={() => {
            setIsAdding(false);
            workflow.reload();
          }}
          onClose={() => setIsAdding(false)}
        />
      )}
    </>
  );
}

function Schemas({
  input,
  output,
}: {
  input: Workflow['inputSchema'];
  output: Workflow['outputSchema'];
}): JSX.Element {
  return (
    <div class="columns">
      <Section title={applications.input}>
        <Declared schema={input} />
      </Section>
      <Section title={applications.output}>
        <Declared schema={output} />
      </Section>
    </div>
  );
}

function Declared({ schema }: { schema: Workflow['inputSchema'] }): JSX.Element {
  return schema === null ? (
    <p class="quiet">{applications.noSchema}</p>
  ) : (
    <JsonTree value={schema} openDepth={2} />
  );
}
