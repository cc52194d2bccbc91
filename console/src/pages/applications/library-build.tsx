import type { JSX } from 'preact';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { useAnswer } from '../../live/use-answer.js';
import { Select, TextField } from '../../parts/fields.js';
import { Shown } from '../../parts/notes.js';
import { texts } from '../../texts/texts.js';
import { choiceOf } from './build-choice.js';
import type { NamedLibrary } from './package-files.js';

const { applications } = texts;

interface LibraryBuildProps {
  library: NamedLibrary;
  /** Empty for the build that the folder names. */
  buildId: string;
  onChange: (buildId: string) => void;
}

/** Chooses the build of a library: a folder cannot know the ids that builds get later. */
export function LibraryBuild(props: LibraryBuildProps): JSX.Element {
  const { library, buildId, onChange } = props;
  const label = applications.buildOf(library.appId);
  return may('application-delivery', library.appId) ? (
    <ListedBuild {...props} label={label} />
  ) : (
    <TextField label={label} value={buildId === '' ? library.buildId : buildId} onChange={onChange} />
  );
}

function ListedBuild({
  library: { appId, buildId: named },
  buildId,
  label,
  onChange,
}: LibraryBuildProps & { label: string }): JSX.Element {
  const answer = useAnswer(
    async (signal) => (await api().listBuilds({ path: { appId }, signal })).data.builds,
    [appId],
  );
  return (
    <Shown answer={answer}>
      {(builds) => (
        <Select
          label={label}
          value={buildId}
          empty={applications.asNamed(named)}
          choices={builds.map(choiceOf)}
          onChange={onChange}
        />
      )}
    </Shown>
  );
}
