import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InstanceResponse, ProcessInstanceState } from '../../../../client/src/index.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { notify } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';
import { operate, type OperationName } from './operations.js';
import { RetryDialog } from './retry-dialog.js';

const t = texts.instances;
const HAS_NOT_ENDED: readonly ProcessInstanceState[] = ['CREATED', 'STARTED', 'ONHOLD'];

/** Buttons for the operations that the state of an instance allows. */
export function OperationButtons({
  instance,
  onDone,
}: {
  instance: InstanceResponse;
  onDone: () => void;
}): JSX.Element {
  const [chosen, setChosen] = useState<OperationName | undefined>();
  const close = (): void => setChosen(undefined);
  return (
    <>
      {offered(instance).map((name) => (
        <Button key={name} kind={name === 'terminate' ? 'danger' : 'plain'} onClick={() => setChosen(name)}>
          {t.operations[name]}
        </Button>
      ))}
      {chosen === 'retry' && <RetryDialog instance={instance} onClose={close} onDone={onDone} />}
      {chosen !== undefined && chosen !== 'retry' && (
        <Confirm name={chosen} uuid={instance.uuid} onClose={close} onDone={onDone} />
      )}
    </>
  );
}

interface ConfirmProps {
  name: OperationName;
  uuid: string;
  onClose: () => void;
  onDone: () => void;
}

function Confirm({ name, uuid, onClose, onDone }: ConfirmProps): JSX.Element {
  const action = useAction(async () => {
    notify((await operate(name, uuid)).text);
    onClose();
    onDone();
  });
  return (
    <ConfirmDialog
      title={t.questions[name]}
      confirm={t.operations[name]}
      isDangerous={name === 'terminate'}
      isBusy={action.isBusy}
      error={action.error}
      onConfirm={() => action.run()}
      onClose={onClose}
    >
      <p>{t.effects[name]}</p>
    </ConfirmDialog>
  );
}

function offered({ state, incidents }: InstanceResponse): OperationName[] {
  if (!HAS_NOT_ENDED.includes(state)) {
    return [];
  }
  return [
    ...(incidents.length > 0 ? (['retry'] as const) : []),
    ...(state === 'STARTED' ? (['hold'] as const) : []),
    ...(state === 'ONHOLD' ? (['release'] as const) : []),
    'terminate',
  ];
}
