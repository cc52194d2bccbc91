import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button, Link } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { fieldErrors } from '../../parts/explain.js';
import { TextField } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { chosenVersion, type ChosenVersion } from '../../parts/version-choice.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { isUnready, NEW_CONNECTION, payloadOf } from './connection-draft.js';
import { ConnectionFields } from './connection-fields.js';
import { systemListPath, systemPath } from './system-paths.js';

const { systems } = texts;

/** Version and name of a new system. */
interface Place extends ChosenVersion {
  resourceName: string;
}

/** Form that registers a system. */
export function Page({ query }: PageProps): JSX.Element {
  const [place, setPlace] = useState<Place>(() => ({ ...chosenVersion(query), resourceName: '' }));
  const { resourceName, ...version } = place;
  const [draft, setDraft] = useState(NEW_CONNECTION);
  const register = useAction(async () => {
    const { data } = await api().createSystem({
      path: version,
      body: { action: 'CREATE', resourceName, payload: payloadOf(draft) },
    });
    notify(systems.registered);
    navigate(systemPath({ ...version, systemResourceId: data.resourceId }));
  });
  return (
    <>
      <PageHead
        title={systems.register}
        lead={systems.registerLead}
        crumbs={[{ title: systems.title, to: systemListPath(version) }]}
      />
      <Section title={systems.connection}>
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void register.run();
          }}
        >
          <PlaceFields
            place={place}
            change={(changes) => setPlace({ ...place, ...changes })}
            errors={fieldErrors(register.error)}
          />
          <ConnectionFields
            draft={draft}
            hasSecret={false}
            errors={fieldErrors(register.error)}
            change={(changes) => setDraft((before) => ({ ...before, ...changes }))}
          />
          <ErrorNote error={register.error} />
          <div class="form-foot">
            <Button kind="primary" type="submit" isBusy={register.isBusy} disabled={isUnready(draft)}>
              {systems.register}
            </Button>
            <Link to={systemListPath(version)} kind="plain">
              {texts.parts.cancel}
            </Link>
          </div>
        </form>
      </Section>
    </>
  );
}

function PlaceFields({
  place,
  change,
  errors,
}: {
  place: Place;
  change: (changes: Partial<Place>) => void;
  errors: Readonly<Record<string, string>>;
}): JSX.Element {
  return (
    <>
      <TextField
        label={texts.parts.application}
        value={place.appId}
        isRequired
        onChange={(appId) => change({ appId })}
      />
      <TextField
        label={texts.parts.version}
        hint={systems.versionHint}
        value={place.versionId}
        isRequired
        onChange={(versionId) => change({ versionId })}
      />
      <TextField
        label={systems.resourceName}
        hint={systems.resourceNameHint}
        error={errors['resourceName']}
        value={place.resourceName}
        isRequired
        onChange={(resourceName) => change({ resourceName })}
      />
    </>
  );
}
