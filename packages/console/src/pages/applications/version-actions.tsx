import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PackageProblem } from '../../../../client/src/index.js';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog, Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';
import { buildPath } from './application-paths.js';
import { Problems, problemsOf } from './problems.js';

const { applications } = texts;

interface VersionPath {
  appId: string;
  versionId: string;
}

interface ActionProps extends VersionPath {
  onClose: () => void;
}

/** Result of a commit or build. */
interface Done {
  warnings: readonly PackageProblem[];
  buildId?: string;
}

/** Buttons that commit a draft or build a committed version. */
export function VersionActions({
  state,
  onCommitted,
  ...path
}: VersionPath & { state: 'DRAFT' | 'COMMITTED'; onCommitted: () => void }): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const [done, setDone] = useState<Done>();
  const finish = (what: Done): void => {
    setIsOpen(false);
    if (what.warnings.length > 0) {
      setDone(what);
    } else if (what.buildId !== undefined) {
      navigate(buildPath(path.appId, what.buildId));
    }
  };
  const close = (): void => setIsOpen(false);
  return (
    <>
      <Button kind="primary" onClick={() => setIsOpen(true)}>
        {state === 'DRAFT' ? applications.commit : applications.makeBuild}
      </Button>
      {isOpen && state === 'DRAFT' && (
        <CommitDialog
          {...path}
          onClose={close}
          onDone={(what) => {
            finish(what);
            onCommitted();
          }}
        />
      )}
      {isOpen && state === 'COMMITTED' && <BuildDialog {...path} onClose={close} onDone={finish} />}
      {done !== undefined && <DoneDialog appId={path.appId} done={done} onClose={() => setDone(undefined)} />}
    </>
  );
}

function CommitDialog({
  onClose,
  onDone,
  ...path
}: ActionProps & { onDone: (done: Done) => void }): JSX.Element {
  const [message, setMessage] = useState('');
  const commit = useAction(async () => {
    const body = message === '' ? {} : { message };
    const { data } = await api().commitVersion({ path, body });
    notify(applications.isCommitted);
    onDone(data);
  });
  return (
    <ConfirmDialog
      title={applications.commitTitle(path.versionId)}
      confirm={applications.commit}
      isBusy={commit.isBusy}
      error={commit.error}
      onConfirm={commit.run}
      onClose={onClose}
    >
      <p>{applications.commitLead}</p>
      <TextField label={applications.commitMessage} value={message} onChange={setMessage} />
      <Problems problems={problemsOf(commit.error)} />
    </ConfirmDialog>
  );
}

function BuildDialog({
  onClose,
  onDone,
  ...path
}: ActionProps & { onDone: (done: Done) => void }): JSX.Element {
  // One key per dialog, so that a retry does not create a second build.
  const [key] = useState(() => crypto.randomUUID());
  const build = useAction(async () => {
    const { data } = await api().createBuild({ path, headers: { 'Idempotency-Key': key } });
    notify(applications.isBuilt);
    onDone(data);
  });
  return (
    <ConfirmDialog
      title={applications.makeBuildTitle(path.versionId)}
      confirm={applications.makeBuild}
      isBusy={build.isBusy}
      error={build.error}
      onConfirm={build.run}
      onClose={onClose}
    >
      <p>{applications.makeBuildLead}</p>
      <Problems problems={problemsOf(build.error)} />
    </ConfirmDialog>
  );
}

function DoneDialog({
  appId,
  done: { warnings, buildId },
  onClose,
}: {
  appId: string;
  done: Done;
  onClose: () => void;
}): JSX.Element {
  return (
    <Dialog
      title={applications.warnings}
      isWide
      onClose={onClose}
      {...(buildId === undefined
        ? {}
        : {
            actions: (
              <Button kind="primary" onClick={() => navigate(buildPath(appId, buildId))}>
                {applications.openBuild}
              </Button>
            ),
          })}
    >
      <Problems problems={warnings} />
    </Dialog>
  );
}
