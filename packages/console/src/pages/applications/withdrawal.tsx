import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunningInstances } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { Select } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';

const { applications } = texts;

interface WithdrawalProps {
  appId: string;
  buildId: string;
  isWithdrawn: boolean;
  onWithdrawn: () => void;
}

/**
 * Withdraws a build, with a choice of what happens to running instances. For a withdrawn build, users who may administer processes
 * can hold or terminate the instances that still run.
 */
export function Withdrawal({
  appId,
  buildId,
  isWithdrawn,
  onWithdrawn,
}: WithdrawalProps): JSX.Element | null {
  const [isOpen, setIsOpen] = useState(false);
  const [running, setRunning] = useState<RunningInstances>(isWithdrawn ? 'HOLD' : 'CONTINUE');
  const words = isWithdrawn ? applications.stopInstances : applications.withdrawal;
  const withdraw = useAction(async () => {
    await api().withdrawBuild({ path: { appId, buildId }, body: { running } });
    notify(words.done);
    setIsOpen(false);
    onWithdrawn();
  });
  const names = applications.runningInstances;
  const choices = (Object.keys(names) as RunningInstances[])
    .filter((value) => (value === 'CONTINUE' ? !isWithdrawn : may('process-administration', appId)))
    .map((value) => ({ value, title: names[value] }));
  if (choices.length === 0) {
    return null;
  }
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        {words.act}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={words.title}
          confirm={words.act}
          isDangerous
          isBusy={withdraw.isBusy}
          error={withdraw.error}
          onConfirm={withdraw.run}
          onClose={() => {
            setIsOpen(false);
            withdraw.clear();
          }}
        >
          <p>{words.lead}</p>
          <Select
            label={applications.running}
            value={running}
            choices={choices}
            onChange={(value) => setRunning(value as RunningInstances)}
          />
        </ConfirmDialog>
      )}
    </>
  );
}
