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
  /** What it begins with. */
  node: unknown;
  /** Stores it. */
  save: (node: PackageNodeRequest) => Promise<void>;
  onClose: () => void;
  /** What else there is to do where it was refused. */
  whenRefused?: ComponentChildren;
}

/** A node as JSON. The service holds it against the whole workflow, and what it refuses is told problem by problem. */
export function NodeEditor({ node: before, save, onClose, whenRefused }: NodeEditorProps): JSX.Element {
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
        {action.error !== undefined && whenRefused}
      </div>
    </form>
  );
}

/** The service says what is wrong with it; undefined where it is no JSON object. */
function nodeOf(text: string): PackageNodeRequest | undefined {
  const value = parsedJson(text);
  return isObject(value) ? (value as unknown as PackageNodeRequest) : undefined;
}
