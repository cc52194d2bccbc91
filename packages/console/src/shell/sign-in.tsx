import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { settings } from '../app/session.js';
import { signInAtCompany } from '../app/sign-in/start.js';
import { knownPermissions, signInAs } from '../app/sign-in/evaluation.js';
import { useAction } from '../live/use-action.js';
import { useAnswer } from '../live/use-answer.js';
import { Button } from '../parts/button.js';
import { ErrorNote } from '../parts/error-note.js';
import { Checkbox, TextField } from '../parts/fields.js';
import { Note, Shown } from '../parts/notes.js';
import { texts } from '../texts/texts.js';
import { SignInError } from './sign-in-error.js';

const { signIn } = texts;
const SAMPLE_PERSON = 'jane.doe';

/** The sign-in page. */
export function SignIn({ error }: { error: unknown }): JSX.Element {
  useEffect(() => {
    document.title = `${signIn.title} · ${texts.shell.product}`;
  }, []);
  return (
    <main class="start">
      <div class="start-box">
        <h1>{texts.shell.product}</h1>
        <SignInError error={error} />
        <SignInMethod />
      </div>
    </main>
  );
}

function SignInMethod(): JSX.Element {
  const known = settings.value;
  if (known === null) {
    return (
      <Note tone="warn" title={signIn.noSettings}>
        <p>{signIn.noSettingsLead}</p>
        <Button onClick={() => location.reload()}>{signIn.tryAgain}</Button>
      </Note>
    );
  }
  if (known.evaluation) {
    return <EvaluationSignIn />;
  }
  return known.clientId === null ? (
    <Note tone="warn" title={signIn.noClient}>
      <p>{signIn.noClientLead}</p>
    </Note>
  ) : (
    <CompanySignIn />
  );
}

function CompanySignIn(): JSX.Element {
  const action = useAction(signInAtCompany);
  return (
    <>
      <p>{signIn.lead}</p>
      <SignInError error={action.error} />
      <Button kind="primary" isBusy={action.isBusy} onClick={action.run}>
        {signIn.button}
      </Button>
    </>
  );
}

function EvaluationSignIn(): JSX.Element {
  const known = useAnswer(knownPermissions, []);
  return (
    <>
      <p>{signIn.evaluation.lead}</p>
      <Shown answer={known}>{(permissions) => <PersonForm known={permissions} />}</Shown>
    </>
  );
}

function PersonForm({ known }: { known: readonly string[] }): JSX.Element {
  const subject = useSignal(SAMPLE_PERSON);
  const chosen = useSignal<ReadonlySet<string>>(new Set(known));
  const further = useSignal('');
  const action = useAction(() => {
    const typed = further.value.split(',').map((name) => name.trim());
    const permissions = [...known.filter((name) => chosen.value.has(name)), ...typed.filter(Boolean)];
    return signInAs({ subject: subject.value, permissions });
  });
  const toggle = (name: string): void => {
    const next = new Set(chosen.value);
    if (!next.delete(name)) {
      next.add(name);
    }
    chosen.value = next;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void action.run();
      }}
    >
      <TextField
        label={signIn.evaluation.person}
        value={subject.value}
        isRequired
        onChange={(value) => (subject.value = value)}
      />
      <fieldset>
        <legend>{signIn.evaluation.permissions}</legend>
        {known.map((name) => (
          <Checkbox key={name} label={name} isOn={chosen.value.has(name)} onChange={() => toggle(name)} />
        ))}
      </fieldset>
      <TextField
        label={signIn.evaluation.further}
        hint={signIn.evaluation.furtherHint}
        value={further.value}
        onChange={(value) => (further.value = value)}
      />
      <ErrorNote error={action.error} />
      <Button kind="primary" type="submit" isBusy={action.isBusy}>
        {signIn.evaluation.button}
      </Button>
    </form>
  );
}
