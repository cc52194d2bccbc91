import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApplicationPackage, StoredPackageResponse } from '../../../../client/src/index.js';
import { navigate } from '../../app/router.js';
import { api } from '../../app/session.js';
import { useAction } from '../../live/use-action.js';
import { Button, Link } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { FolderField, TextField } from '../../parts/fields.js';
import { notify } from '../../parts/messages.js';
import { Note } from '../../parts/notes.js';
import { PageHead, Section } from '../../parts/page-head.js';
import { chosenVersion } from '../../parts/version-choice.js';
import type { PageProps } from '../../shell/area.js';
import { texts } from '../../texts/texts.js';
import { versionPath } from './application-paths.js';
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
/** Maximum number of ignored files shown by name. */
const MAX_IGNORED_SHOWN = 10;

/** Choices of the user for the delivery of a folder. */
interface Choices {
  appId: string;
  /** Application id of the last folder. An id typed by the user is kept instead. */
  proposedId: string;
  versionId: string;
  /** Builds of libraries by application id, where they differ from those of the folder. */
  builds: ReadonlyMap<string, string>;
  /** Addresses of systems by name, where they differ from those of the folder. */
  addresses: ReadonlyMap<string, string>;
}

const NO_OVERRIDES: Pick<Choices, 'builds' | 'addresses'> = { builds: new Map(), addresses: new Map() };

/** Stored package and the response of the service. */
interface Stored {
  appId: string;
  versionId: string;
  answer: StoredPackageResponse;
}

/** Uploads an application folder as the package of a version. */
export function Page({ query }: PageProps): JSX.Element {
  const [files, setFiles] = useState<PackageFiles>();
  const [stored, setStored] = useState<Stored>();
  const [choices, setChoices] = useState<Choices>({
    ...chosenVersion(query),
    proposedId: '',
    ...NO_OVERRIDES,
  });
  const read = useAction(async (chosen: readonly File[]) => {
    setFiles(undefined);
    setStored(undefined);
    const found = await readPackageFiles(chosen);
    setFiles(found);
    const { appId } = found.document.application;
    if (typeof appId === 'string' && appId !== choices.proposedId) {
      const isTyped = choices.appId !== choices.proposedId;
      setChoices({ ...choices, appId: isTyped ? choices.appId : appId, proposedId: appId, ...NO_OVERRIDES });
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
            disabled={read.isBusy}
            onChange={(chosen) => void read.run(chosen)}
          />
          {read.error instanceof FolderError ? (
            <Problems problems={read.error.problems} />
          ) : (
            <ErrorNote error={read.error} />
          )}
        </div>
      </Section>
      {files !== undefined && stored === undefined && (
        <Delivery files={files} choices={choices} setChoices={setChoices} onStored={setStored} />
      )}
      {stored !== undefined && <Warnings stored={stored} />}
    </>
  );
}

interface ChoiceProps {
  files: PackageFiles;
  choices: Choices;
  setChoices: (choices: Choices) => void;
}

function Delivery({
  onStored,
  ...chosen
}: ChoiceProps & { onStored: (stored: Stored) => void }): JSX.Element {
  const { files, choices } = chosen;
  const { appId, versionId, builds, addresses } = choices;
  const store = useAction(async () => {
    const path = { appId, versionId };
    // The service validates the package and reports all problems at once.
    const body = withChoices(files, builds, addresses) as unknown as ApplicationPackage;
    const { data } = await api().storePackage({ path, body });
    notify(data.changed ? applications.isStored : applications.wasStored);
    if (data.warnings.length > 0 || data.systems.removed.length > 0) {
      // No later response repeats the removed systems.
      onStored({ ...path, answer: data });
    } else {
      navigate(versionPath(appId, versionId));
    }
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
        <ChoiceFields {...chosen} />
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

function ChoiceFields({ files, choices, setChoices }: ChoiceProps): JSX.Element {
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
          buildId={builds.get(library.appId)}
          onChange={(build) => setChoices({ ...choices, builds: withChoice(builds, library.appId, build) })}
        />
      ))}
      {addressesOf(files).map(({ name, baseUrl }) => (
        <TextField
          key={name}
          label={applications.addressOf(name)}
          type="url"
          value={addresses.get(name) ?? baseUrl}
          isRequired
          onChange={(url) => setChoices({ ...choices, addresses: withChoice(addresses, name, url) })}
        />
      ))}
    </>
  );
}

function Found({ files: { document, leftOut } }: { files: PackageFiles }): JSX.Element {
  const { systems, workflows, processes } = document;
  const further = leftOut.length - MAX_IGNORED_SHOWN;
  const shown = [
    ...leftOut.slice(0, MAX_IGNORED_SHOWN),
    ...(further > 0 ? [applications.andMore(further)] : []),
  ];
  return (
    <>
      <p>{applications.found(processes.length, workflows.length, systems.length)}</p>
      {leftOut.length > 0 && (
        <Note tone="warn" title={applications.leftOut(leftOut.length)}>
          <p>{shown.join(', ')}</p>
        </Note>
      )}
    </>
  );
}

/** Warnings about a stored package. */
function Warnings({ stored: { appId, versionId, answer } }: { stored: Stored }): JSX.Element {
  const { systems, warnings } = answer;
  return (
    <Section title={applications.warnings}>
      {systems.removed.length > 0 && (
        <Note tone="warn" title={applications.removedSystems(systems.removed.length)}>
          <p>{systems.removed.join(', ')}</p>
        </Note>
      )}
      <Problems problems={warnings} />
      <div class="form-foot">
        <Link to={versionPath(appId, versionId)} kind="primary">
          {applications.openVersion}
        </Link>
      </div>
    </Section>
  );
}

function withChoice(
  choices: ReadonlyMap<string, string>,
  key: string,
  choice: string | undefined,
): ReadonlyMap<string, string> {
  const others = [...choices].filter(([other]) => other !== key);
  return new Map(choice === undefined ? others : [...others, [key, choice]]);
}
