import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PackageNodeRequest } from '../../../../client/src/index.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { TextArea } from '../../parts/fields.js';
import { isObject, parsedJson } from '../../parts/json.js';
import { texts } from '../../texts/texts.js';
import { Problems, problemsOf } from './problems.js';

const { applications } = texts;
const ROWS = 24;

interface NodeEditorProps {
  /** Initial contents. */
  node: unknown;
  save: (node: PackageNodeRequest) => Promise<void>;
  onClose: () => void;
  /** Additional buttons after an error. */
  errorActions?: ComponentChildren;
}

/** JSON editor of a node. The service validates the whole workflow and reports each problem. */
export function NodeEditor({ node: before, save, onClose, errorActions }: NodeEditorProps): JSX.Element {
  const [text, setText] = useState(() => JSON.stringify(before, null, 2));
  const node = nodeOf(text);
  const action = useAction(async () => {
    if (node !== undefined) {
      await save(node);
    }
  });
  return (
    <form
      class="node-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run();
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
      <ErrorNote error={action.error} />
      <Problems problems={problemsOf(action.error)} />
      <div class="form-foot">
        <Button kind="primary" type="submit" isBusy={action.isBusy} disabled={node === undefined}>
          {applications.save}
        </Button>
        <Button onClick={onClose}>{texts.parts.cancel}</Button>
        {action.error !== undefined && errorActions}
      </div>
    </form>
  );
}

/** Parses the node; undefined if it is not a JSON object. The service validates the rest. */
function nodeOf(text: string): PackageNodeRequest | undefined {
  const value = parsedJson(text);
  return isObject(value) ? (value as unknown as PackageNodeRequest) : undefined;
}
