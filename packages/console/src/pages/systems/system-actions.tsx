import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReplaceSecretRequestWritable } from '../../../../client/src/index.js';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction, type Action } from '../../live/use-action.js';
import { ifMatch } from '../../live/versions.js';
import { useVersionState } from '../../live/use-version-state.js';
import { Button } from '../../parts/button.js';
import { ConfirmDialog, Dialog } from '../../parts/dialog.js';
import { ErrorNote } from '../../parts/error-note.js';
import { fieldErrors } from '../../parts/explain.js';
import { TextField } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { texts } from '../../texts/texts.js';
import {
  changesOf,
  draftOf,
  isUnready,
  keepsSecret,
  repeatedSecrets,
  replacementOf,
} from './connection-draft.js';
import { ConnectionFields, SecretFields } from './connection-fields.js';
import { systemListPath } from './system-paths.js';
import type { KnownSystem } from './system.types.js';

const { systems } = texts;

interface ActionProps {
  known: KnownSystem;
  reload: () => void;
}

/** Buttons that change or delete a system. */
export function SystemActions(props: ActionProps): JSX.Element {
  const [open, setOpen] = useState<'change' | 'secret' | 'headers' | 'remove'>();
  const { path, system } = props.known;
  const version = useVersionState(path.appId, path.versionId);
  const isReadOnly = version.data === 'COMMITTED';
  const reload = (): void => {
    version.reload();
    props.reload();
  };
  const dialog = { known: props.known, reload, close: () => setOpen(undefined) };
  const { headerNames = [] } = system;
  const hasSecret = system.authorization.type !== 'NO_AUTH';
  return (
    <>
      {!isReadOnly && <Button onClick={() => setOpen('change')}>{systems.change}</Button>}
      {hasSecret && <Button onClick={() => setOpen('secret')}>{systems.replaceSecret}</Button>}
      {headerNames.length > 0 && <Button onClick={() => setOpen('headers')}>{systems.replaceHeaders}</Button>}
      {!isReadOnly && <Button onClick={() => setOpen('remove')}>{systems.remove}</Button>}
      {open === 'change' && <ChangeDialog {...dialog} />}
      {open === 'secret' && <SecretDialog {...dialog} />}
      {open === 'headers' && <HeadersDialog {...dialog} names={headerNames} />}
      {open === 'remove' && <RemoveDialog {...dialog} />}
    </>
  );
}

function ChangeDialog({ known, reload, close }: DialogProps): JSX.Element {
  const [before] = useState(() => draftOf(known.system));
  const [draft, setDraft] = useState(before);
  const repeated = repeatedSecrets(draft, before, known.system);
  const save = useAction(async () => {
    await api().updateSystem({
      path: known.path,
      headers: ifMatch(known.version),
      body: changesOf(draft, before),
    });
    notify(systems.saved);
    reload();
    close();
  });
  return (
    <Dialog
      title={systems.change}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>{texts.parts.cancel}</Button>
          <Button
            kind="primary"
            isBusy={save.isBusy}
            disabled={isUnready(draft, repeated)}
            onClick={save.run}
          >
            {systems.save}
          </Button>
        </>
      }
    >
      <ConnectionFields
        draft={draft}
        hasSecret={keepsSecret(draft, before)}
        repeated={repeated}
        stored={known.system}
        errors={fieldErrors(save.error)}
        change={(changes) => setDraft((now) => ({ ...now, ...changes }))}
      />
      <ErrorNote error={save.error} />
      {save.error !== undefined && (
        <Button
          onClick={() => {
            reload();
            close();
          }}
        >
          {systems.refresh}
        </Button>
      )}
    </Dialog>
  );
}

interface DialogProps extends ActionProps {
  close: () => void;
}

function useReplacement(
  { known: { path, version }, reload, close }: DialogProps,
  bodyOf: () => ReplaceSecretRequestWritable,
): Action<[]> {
  return useAction(async () => {
    await api().replaceClientSecret({ path, headers: ifMatch(version), body: bodyOf() });
    notify(systems.secretReplaced);
    reload();
    close();
  });
}

/** Replaces the values of all static headers. The names belong to the definition and stay. */
function HeadersDialog({ names, ...props }: DialogProps & { names: readonly string[] }): JSX.Element {
  const [values, setValues] = useState<Record<string, string>>({});
  const replace = useReplacement(props, () => ({ headers: values }));
  return (
    <ConfirmDialog
      title={systems.replaceHeaders}
      confirm={systems.replaceHeaders}
      disabled={names.some((name) => (values[name] ?? '') === '')}
      isBusy={replace.isBusy}
      error={replace.error}
      onConfirm={replace.run}
      onClose={props.close}
    >
      <p>{systems.headersHint}</p>
      {names.map((name) => (
        <TextField
          key={name}
          label={name}
          type="password"
          autocomplete="new-password"
          isRequired
          value={values[name] ?? ''}
          onChange={(value) => setValues((before) => ({ ...before, [name]: value }))}
        />
      ))}
    </ConfirmDialog>
  );
}

function SecretDialog({ known, reload, close }: DialogProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(known.system));
  const replace = useReplacement({ known, reload, close }, () => replacementOf(draft));
  return (
    <ConfirmDialog
      title={systems.replaceSecret}
      confirm={systems.replaceSecret}
      disabled={draft.secret === ''}
      isBusy={replace.isBusy}
      error={replace.error}
      onConfirm={replace.run}
      onClose={close}
    >
      <SecretFields
        draft={draft}
        hasSecret={false}
        change={(changes) => setDraft((before) => ({ ...before, ...changes }))}
      />
    </ConfirmDialog>
  );
}

function RemoveDialog({ known, close }: DialogProps): JSX.Element {
  const { path, system, version } = known;
  const remove = useAction(async () => {
    await api().deleteSystem({ path, headers: ifMatch(version) });
    notify(systems.removed);
    navigate(systemListPath(path));
  });
  return (
    <ConfirmDialog
      title={systems.removeTitle(system.name)}
      confirm={systems.remove}
      isDangerous
      isBusy={remove.isBusy}
      error={remove.error}
      onConfirm={remove.run}
      onClose={close}
    >
      <p>{systems.removeLead}</p>
    </ConfirmDialog>
  );
}
