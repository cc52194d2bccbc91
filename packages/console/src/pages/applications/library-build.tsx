import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ServiceError } from '../../../../client/src/index.js';
import { may } from '../../app/permissions.js';
import { api } from '../../app/session.js';
import { orNull } from '../../live/or-null.js';
import { useAnswer, type Answer } from '../../live/use-answer.js';
import { TextField } from '../../parts/fields.js';
import { texts } from '../../texts/texts.js';
import { BuildChoice } from './build-choice.js';
import type { NamedLibrary } from './package-files.js';

const { applications } = texts;
const SERVER_ERROR = 500;

interface LibraryBuildProps {
  library: NamedLibrary;
  /** Undefined for the build named by the folder. */
  buildId: string | undefined;
  onChange: (buildId: string | undefined) => void;
}

/**
 * Field for the build of a library, because a folder cannot know later build ids. If the build that the folder names is missing or
 * withdrawn, the active build is preselected. If builds cannot be listed, the user types the id.
 */
export function LibraryBuild({ library, buildId, onChange }: LibraryBuildProps): JSX.Element {
  const { appId, buildId: named } = library;
  const label = applications.buildOf(appId);
  const { data: known } = useKnownBuilds(library);
  useEffect(() => {
    if (known !== undefined && known.fault !== null && known.active !== null && buildId === undefined) {
      onChange(known.active);
    }
  }, [known]);
  const typed = <TextField label={label} value={buildId ?? named} isRequired onChange={onChange} />;
  const fault = known?.fault ?? null;
  return may('application-delivery', appId) ? (
    <BuildChoice
      appId={appId}
      label={label}
      buildId={buildId ?? ''}
      empty={fault === null ? applications.asNamed(named) : texts.parts.choose}
      hint={fault === null ? undefined : applications.namedFaults[fault](named)}
      isRequired={fault !== null}
      onChange={(build) => onChange(build === '' ? undefined : build)}
    >
      {typed}
    </BuildChoice>
  ) : (
    typed
  );
}

interface KnownBuilds {
  /** Why the build named by the folder cannot be used. */
  fault: 'missing' | 'withdrawn' | null;
  active: string | null;
}

function useKnownBuilds({ appId, buildId }: NamedLibrary): Answer<KnownBuilds> {
  return useAnswer(
    async (signal) => {
      const fault = await faultOf({ appId, buildId }, signal);
      const active = fault === null ? null : await orNull(api().getActiveBuild({ path: { appId }, signal }));
      return { fault, active: active?.data.buildId ?? null };
    },
    [appId, buildId],
  );
}

/** Checks the build named by the folder. Client errors mean missing, because the folder may contain a placeholder. */
async function faultOf(path: NamedLibrary, signal: AbortSignal): Promise<KnownBuilds['fault']> {
  try {
    const { data } = await api().getBuild({ path, signal });
    return data.buildStatus === 'WITHDRAWN' ? 'withdrawn' : null;
  } catch (error) {
    if (error instanceof ServiceError && error.status < SERVER_ERROR) {
      return 'missing';
    }
    throw error;
  }
}
