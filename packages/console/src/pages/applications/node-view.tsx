import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WorkflowNode } from '../../../../client/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { etagOf, ifMatch } from '../../live/versions.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { Facts, Moment } from '../../parts/facts.js';
import { JsonTree } from '../../parts/json-tree.js';
import { notify } from '../../parts/messages.js';
import { Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { NodeEditor } from './node-editor.js';
import { Problems, problemsOf } from './problems.js';

const { applications } = texts;
/** Fields set by the service. */
const READ_ONLY: ReadonlySet<string> = new Set([
  'createdDate',
  'modifiedDate',
  'createdBy',
  'modifiedBy',
  'workflowResourceId',
]);

interface NodePath {
  appId: string;
  versionId: string;
  workflowName: string;
  nodeId: string;
}

interface NodeProps {
  path: NodePath;
  /** Nodes of a committed version can only be read. */
  isDraft: boolean;
  onChanged: () => void;
}

/** Loaded node with the ETag for changes. */
interface KnownNode {
  node: WorkflowNode;
  /** Null if the response had no ETag. */
  tag: string | null;
}

/** Contents and editor of a workflow node. */
export function NodeView({ path, isDraft, onChanged }: NodeProps): JSX.Element {
  const [isEdited, setIsEdited] = useState(false);
  const answer = useAnswer(async (signal): Promise<KnownNode> => {
    const { data, response } = await api().getWorkflowNode({ path, signal });
    return { node: data, tag: etagOf(response) };
  }, Object.values(path));
  const changed = (): void => {
    setIsEdited(false);
    answer.reload();
    onChanged();
  };
  return (
    <Shown answer={answer}>
      {(known) => (
        <Section
          title={applications.nodeTitle(known.node.name)}
          actions={
            isDraft &&
            !isEdited && (
              <>
                <Button onClick={() => setIsEdited(true)}>{applications.edit}</Button>
                <Removal path={path} known={known} onChanged={onChanged} />
              </>
            )
          }
        >
          {isEdited ? (
            <NodeEditor
              key={known.tag}
              node={editableFields(known.node)}
              save={async (body) => {
                await api().updateWorkflowNode({ path, headers: ifMatch(known.tag), body });
                notify(applications.nodeSaved);
                changed();
              }}
              onClose={() => setIsEdited(false)}
              errorActions={<Button onClick={answer.reload}>{applications.refresh}</Button>}
            />
          ) : (
            <Contents node={known.node} />
          )}
        </Section>
      )}
    </Shown>
  );
}

function Contents({ node }: { node: WorkflowNode }): JSX.Element {
  return (
    <>
      <Facts
        facts={[
          [applications.nodeType, applications.nodeTypes[node.type]],
          [applications.changed, <Moment key="changed" at={node.modifiedDate} />],
          [applications.changedBy, node.modifiedBy.userName],
        ]}
      />
      <JsonTree value={editableFields(node)} openDepth={2} />
    </>
  );
}

function Removal({ path, known, onChanged }: Omit<NodeProps, 'isDraft'> & { known: KnownNode }): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const remove = useAction(async () => {
    await api().deleteWorkflowNode({ path, headers: ifMatch(known.tag) });
    notify(applications.nodeRemoved);
    setQuery({ node: undefined });
    onChanged();
  });
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{applications.removeNode}</Button>
      {isOpen && (
        <ConfirmDialog
          title={applications.removeNodeTitle(known.node.name)}
          confirm={applications.removeNode}
          isDangerous
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={remove.run}
          onClose={() => setIsOpen(false)}
        >
          <p>{applications.removeNodeLead}</p>
          <Problems problems={problemsOf(remove.error)} />
        </ConfirmDialog>
      )}
    </>
  );
}

function editableFields(node: WorkflowNode): Record<string, unknown> {
  return Object.fromEntries(Object.entries(node).filter(([name]) => !READ_ONLY.has(name)));
}
