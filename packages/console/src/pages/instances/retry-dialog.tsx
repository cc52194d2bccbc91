import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InstanceResponse } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { ErrorNote } from '../../parts/error-note.js';
import { JsonTree } from '../../parts/json-tree.js';
import { notify } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';
import { operate, retryBody } from './operations.js';
import { PatchEditor, patchOf } from './patch-editor.js';

const t = texts.instances;

interface RetryDialogProps {
  instance: InstanceResponse;
  /** Token to retry. Default: all stopped tokens. */
  tokenUuid?: string;
  onClose: () => void;
  onDone: () => void;
}

/** Retries stopped work, optionally with corrected data. */
export function RetryDialog({ instance, tokenUuid, onClose, onDone }: RetryDialogProps): JSX.Element {
  const { uuid } = instance;
  const mayCorrect = may('process-data', instance.applicationId);
  const [text, setText] = useState('{}');
  const patch = patchOf(text);
  const action = useAction(async () => {
    notify(await retry(uuid, tokenUuid, patch));
    onClose();
    onDone();
  });
  return (
    <Dialog
      title={mayCorrect ? t.retryTitle : t.questions.retry}
      isWide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button
            kind="primary"
            isBusy={action.isBusy}
            disabled={patch === undefined}
            onClick={() => action.run()}
          >
            {t.operations.retry}
          </Button>
        </>
      }
    >
      <p>{t.effects.retry}</p>
      {mayCorrect && <PatchEditor text={text} onChange={setText} disabled={action.isBusy} />}
      <h3>{t.dataNow}</h3>
      <JsonTree value={instance.data} />
      <ErrorNote error={action.error} />
    </Dialog>
  );
}

async function retry(
  uuid: string,
  tokenUuid: string | undefined,
  patch: object | undefined,
): Promise<string> {
  if (tokenUuid === undefined) {
    return (await operate('retry', uuid, patch)).text;
  }
  const { data } = await api().retryToken({ path: { uuid, tokenUuid }, body: retryBody(patch) });
  return t.outcomes.retried(data.retriedIncidents.length, data.state.toLowerCase());
}
