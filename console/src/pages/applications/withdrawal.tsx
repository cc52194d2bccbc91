import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunningInstances } from '../../../../clients/typescript/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog } from '../../parts/dialog.js';
import { Select } from '../../parts/fields.js';
import { say } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';

const { applications } = texts;

interface WithdrawalProps {
  appId: string;
  buildId: string;
  onWithdrawn: () => void;
}

/** Withdraws a build, after a confirmation that says what becomes of running instances. */
export function Withdrawal({ appId, buildId, onWithdrawn }: WithdrawalProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const [running, setRunning] = useState<RunningInstances>('CONTINUE');
  const withdraw = useAction(async () => {
    await api().withdrawBuild({ path: { appId, buildId }, body: { running } });
    say(applications.isWithdrawn);
    setIsOpen(false);
    onWithdrawn();
  });
  const names = applications.runningInstances;
  const choices = (Object.keys(names) as RunningInstances[])
    .filter((value) => value === 'CONTINUE' || may('process-administration', appId))
    .map((value) => ({ value, title: names[value] }));
  return (
    <>
      <Button kind="danger" onClick={() => setIsOpen(true)}>
        {applications.withdraw}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={applications.withdrawTitle}
          confirm={applications.withdraw}
          isDangerous
          isBusy={withdraw.isBusy}
          error={withdraw.error}
          onConfirm={withdraw.run}
          onClose={() => {
            setIsOpen(false);
            withdraw.clear();
          }}
        >
          <p>{applications.withdrawLead}</p>
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
