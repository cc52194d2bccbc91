import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Workflow } from '../../../../client/src/index.js';
import { setQuery } from '../../app/router.js';
import { api } from '../../app/session.js';
import { Dialog } from '../../parts/dialog.js';
import { Select } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';
import { NodeEditor } from './node-editor.js';

const { applications } = texts;
/** Initial contents of a new node. */
const TEMPLATE = {
  type: 'DATA_MAPPING',
  name: '',
  layoutOptions: { x: 0, y: 0 },
  inputBody: '{}',
  responseKey: '',
};

interface NewNodeProps {
  path: { appId: string; versionId: string; workflowName: string };
  workflow: Workflow;
  onAdded: () => void;
  onClose: () => void;
}

/** Adds a node to a workflow by inserting it into a sequence. */
export function NewNode({ path, workflow, onAdded, onClose }: NewNodeProps): JSX.Element {
  const names = new Map(workflow.nodes.map(({ id, name }) => [id, name]));
  const sequences = workflow.nodes.flatMap(({ name, outgoingSequences }) =>
    outgoingSequences.map(({ id, targetNodeId }) => ({
      value: id,
      title: `${name} → ${names.get(targetNodeId) ?? targetNodeId}`,
    })),
  );
  const [sequence, setSequence] = useState(sequences[0]?.value ?? '');
  return (
    <Dialog title={applications.addNode} isWide onClose={onClose}>
      <Select
        label={applications.onSequence}
        value={sequence}
        choices={sequences}
        empty={applications.onNoSequence}
        onChange={setSequence}
      />
      <NodeEditor
        node={TEMPLATE}
        onClose={onClose}
        save={async (body) => {
          const query = sequence === '' ? {} : { onSequence: sequence };
          const { data } = await api().createWorkflowNode({ path, query, body });
          notify(applications.nodeSaved);
          setQuery({ node: data.id });
          onAdded();
        }}
      />
    </Dialog>
  );
}
