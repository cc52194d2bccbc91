import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApplicationPackage } from '../../../../clients/typescript/src/index.js';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button, Link } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { FolderField, TextField } from '../../parts/fields.js';
import { say } from '../../parts/messages.js';
import { Note } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { chosenVersion } from '../../parts/version-choice.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { placeOfVersion } from './application-paths.js';
import { LibraryBuild } from './library-build.js';
import {
  addressesOf,
  FolderError,
  librariesOf,
  readPackageFiles,
  withChoices,
  type PackageFiles,
} from './package-files.js';
import { Problems, problemsOf } from './problems.js';

const { applications } = texts;

/** What a person has chosen of a folder. */
interface Choices {
  appId: string;
  versionId: string;
  /** Builds of libraries by their applications. */
  builds: ReadonlyMap<string, string>;
  /** Addresses of systems by their names. */
  addresses: ReadonlyMap<string, string>;
}

/** Stores the folder of an application as the package of a version. */
export function Page({ query }: PageProps): JSX.Element {
  const [files, setFiles] = useState<PackageFiles>();
  const [choices, setChoices] = useState<Choices>({
    ...chosenVersion(query),
    builds: new Map(),
    addresses: new Map(),
  });
  const read = useAction(async (chosen: readonly File[]) => {
    setFiles(undefined);
    const found = await readPackageFiles(chosen);
    setFiles(found);
    const { appId } = found.document.application;
    if (choices.appId === '' && typeof appId === 'string') {
      setChoices({ ...choices, appId });
    }
  });
  return (
    <>
      <PageHead
        title={applications.deliver}
        lead={applications.deliverLead}
        crumbs={[{ title: applications.title, to: '/applications' }]}
      />
      <Section title={applications.folderTitle}>
        <div class="form">
          <FolderField
            label={applications.folder}
            hint={applications.folderHint}
            onChange={(chosen) => void read.run(chosen)}
          />
          {read.error instanceof FolderError ? (
            <Problems problems={read.error.problems} />
          ) : (
            <ErrorNote error={read.error} />
          )}
        </div>
      </Section>
      {files !== undefined && <Delivery files={files} choices={choices} setChoices={setChoices} />}
    </>
  );
}

interface DeliveryProps {
  files: PackageFiles;
  choices: Choices;
  setChoices: (choices: Choices) => void;
}

function Delivery({ files, choices, setChoices }: DeliveryProps): JSX.Element {
  const { appId, versionId, builds, addresses } = choices;
  const store = useAction(async () => {
    const path = { appId, versionId };
    // Its shape is for the service to judge, which tells everything that is wrong at once.
    const body = withChoices(files, builds, addresses) as unknown as ApplicationPackage;
    await api().storePackage({ path, body });
    say(applications.isStored);
    navigate(placeOfVersion(appId, versionId));
  });
  return (
    <Section title={applications.into}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void store.run();
        }}
      >
        <Found files={files} />
        <ChoiceFields files={files} choices={choices} setChoices={setChoices} />
        <ErrorNote error={store.error} />
        <Problems problems={problemsOf(store.error)} />
        <div class="form-foot">
          <Button kind="primary" type="submit" isBusy={store.isBusy}>
            {applications.store}
          </Button>
          <Link to="/applications" kind="plain">
            {texts.parts.cancel}
          </Link>
        </div>
      </form>
    </Section>
  );
}

function ChoiceFields({ files, choices, setChoices }: DeliveryProps): JSX.Element {
  const { appId, versionId, builds, addresses } = choices;
  return (
    <>
      <TextField
        label={texts.parts.application}
        value={appId}
        isRequired
        onChange={(value) => setChoices({ ...choices, appId: value })}
      />
      <TextField
        label={texts.parts.version}
        hint={applications.intoHint}
        value={versionId}
        isRequired
        onChange={(value) => setChoices({ ...choices, versionId: value })}
      />
      {librariesOf(files).map((library) => (
        <LibraryBuild
          key={library.appId}
          library={library}
          buildId={builds.get(library.appId) ?? ''}
          onChange={(build) => setChoices({ ...choices, builds: new Map(builds).set(library.appId, build) })}
        />
      ))}
      {addressesOf(files).map(({ name, baseUrl }) => (
        <TextField
          key={name}
          label={applications.addressOf(name)}
          type="url"
          value={addresses.get(name) ?? baseUrl}
          onChange={(url) => setChoices({ ...choices, addresses: new Map(addresses).set(name, url) })}
        />
      ))}
    </>
  );
}

function Found({ files: { document, leftOut } }: { files: PackageFiles }): JSX.Element {
  const { systems, workflows, processes } = document;
  return (
    <>
      <p>{applications.found(processes.length, workflows.length, systems.length)}</p>
      {leftOut.length > 0 && (
        <Note tone="warn" title={applications.leftOut}>
          <p>{leftOut.join(', ')}</p>
        </Note>
      )}
    </>
  );
}
