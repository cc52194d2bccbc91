import type { JSX } from 'preact';
import { may } from '../../app/permissions.js';
import { TextField } from '../../parts/fields.js';
import { texts } from '../../texts/texts.js';
import { BuildChoice } from './build-choice.js';
import type { NamedLibrary } from './package-files.js';

const { applications } = texts;

interface LibraryBuildProps {
  library: NamedLibrary;
  /** Undefined for the build that the folder names. */
  buildId: string | undefined;
  onChange: (buildId: string | undefined) => void;
}

/** Chooses the build of a library: a folder cannot know the ids that builds get later. Where they cannot be listed, one is typed. */
export function LibraryBuild({ library, buildId, onChange }: LibraryBuildProps): JSX.Element {
  const { appId, buildId: named } = library;
  const label = applications.buildOf(appId);
  const typed = <TextField label={label} value={buildId ?? named} isRequired onChange={onChange} />;
  return may('application-delivery', appId) ? (
    <BuildChoice
      appId={appId}
      label={label}
      buildId={buildId ?? ''}
      meant={named}
      empty={applications.asNamed(named)}
      onChange={(build) => onChange(build === '' ? undefined : build)}
    >
      {typed}
    </BuildChoice>
  ) : (
    typed
  );
}
