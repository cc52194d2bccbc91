import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PackageNodeRequest, WorkflowNode } from '../../../../clients/typescript/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { useAnswer } from '../../live/use-answer.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Facts, Moment } from '../../parts/facts.js';
import { TextArea } from '../../parts/fields.js';
import { JsonTree } from '../../parts/json-tree.js';
import { say } from '../../parts/messages.js';
import { Shown } from '../../parts/notes.js';
import { Section } from '../../parts/page-head.js';
import { texts } from '../../texts/texts.js';
import { Problems, problemsOf } from './problems.js';

const { applications } = texts;
/** Written by the service. */
const NOT_WRITTEN: ReadonlySet<string> = new Set([
  'createdDate',
  'modifiedDate',
  'createdBy',
  'modifiedBy',
  'workflowResourceId',
]);
const ROWS = 24;

interface NodePath {
  appId: string;
  versionId: string;
  workflowName: string;
  nodeId: string;
}

interface NodeProps {
  path: NodePath;
  onChanged: () => void;
}

/** A node as it was read, with the tag that a change has to name. */
interface KnownNode {
  node: WorkflowNode;
  tag: string;
}

/** One node of a workflow: what it holds, and its editor. */
export function NodeView({ path, onChanged }: NodeProps): JSX.Element {
  const [isEdited, setIsEdited] = useState(false);
  const answer = useAnswer(async (signal): Promise<KnownNode> => {
    const { data, response } = await api().getWorkflowNode({ path, signal });
    return { node: data, tag: response.headers.get('etag') ?? '*' };
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
            !isEdited && (
              <>
                <Button onClick={() => setIsEdited(true)}>{applications.edit}</Button>
                <Removal path={path} known={known} onChanged={onChanged} />
              </>
            )
          }
        >
          {isEdited ? (
            <Editor
              key={known.tag}
              path={path}
              known={known}
              onChanged={changed}
              onClose={() => setIsEdited(false)}
              onReadAgain={answer.reload}
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
      <JsonTree value={writtenOf(node)} openDepth={2} />
    </>
  );
}

interface EditorProps extends NodeProps {
  known: KnownNode;
  onClose: () => void;
  onReadAgain: () => void;
}

function Editor({ path, known, onChanged, onClose, onReadAgain }: EditorProps): JSX.Element {
  const [text, setText] = useState(() => JSON.stringify(writtenOf(known.node), null, 2));
  const node = nodeOf(text);
  const save = useAction(async () => {
    if (node !== undefined) {
      await api().updateWorkflowNode({ path, headers: { 'If-Match': known.tag }, body: node });
      say(applications.nodeSaved);
      onChanged();
    }
  });
  return (
    <form
      class="node-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <TextArea
        label={applications.nodeJson}
        hint={applications.nodeJsonHint}
        error={node === undefined ? applications.notAnObject : undefined}
        isCode
        rows={ROWS}
        value={text}
        onChange={setText}
      />
      <ErrorNote error={save.error} />
      <Problems problems={problemsOf(save.error)} />
      <div class="form-foot">
        <Button kind="primary" type="submit" isBusy={save.isBusy} disabled={node === undefined}>
          {applications.save}
        </Button>
        <Button onClick={onClose}>{texts.parts.cancel}</Button>
        {save.error !== undefined && <Button onClick={onReadAgain}>{applications.readAgain}</Button>}
      </div>
    </form>
  );
}

function Removal({ path, known, onChanged }: NodeProps & { known: KnownNode }): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const remove = useAction(async () => {
    await api().deleteWorkflowNode({ path, headers: { 'If-Match': known.tag } });
    say(applications.nodeRemoved);
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

function writtenOf(node: WorkflowNode): Record<string, unknown> {
  return Object.fromEntries(Object.entries(node).filter(([name]) => !NOT_WRITTEN.has(name)));
}

/** The service says what is wrong with it; undefined where it is no JSON object. */
function nodeOf(text: string): PackageNodeRequest | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as PackageNodeRequest) : undefined;
  } catch {
    return undefined;
  }
}
