import type { ComponentChildren, JSX } from 'preact';
import type { BuildSummary } from '../../../../client/src/index.js';
import { api } from '../../app/session.js';
import { usePages } from '../../live/use-pages.js';
import { Button } from '../../parts/button.js';
import { ErrorNote } from '../../parts/error-note.js';
import { Select, type Choice } from '../../parts/fields.js';
import { absoluteTime } from '../../parts/time.js';
import { texts } from '../../texts/texts.js';

const { applications } = texts;

interface BuildChoiceProps {
  appId: string;
  label: string;
  /** Empty if none is chosen. */
  buildId: string;
  /** Label of the empty choice. */
  empty: string;
  onChange: (buildId: string) => void;
  hint?: string | undefined;
  isRequired?: boolean;
  /** Build to exclude. */
  without?: string;
  /** Whether to include withdrawn builds. */
  hasWithdrawn?: boolean;
  /** Shown instead of the select if the list cannot be loaded. */
  children?: ComponentChildren;
}

/** Select for a build of an application, with a button to load older builds. */
export function BuildChoice(props: BuildChoiceProps): JSX.Element {
  const { appId, label, buildId, empty, onChange, hint, isRequired = false, children } = props;
  const pages = usePages(
    async (before, signal) => {
      const query = before === undefined ? {} : { before };
      const { data } = await api().listBuilds({ path: { appId }, query, signal });
      return { items: data.builds, next: data.next };
    },
    [appId],
  );
  const { items, error, hasMore, isLoading, more, reload } = pages;
  const choices = items
    .filter((one) => one.buildId !== props.without)
    .filter(({ buildStatus }) => props.hasWithdrawn === true || buildStatus !== 'WITHDRAWN')
    .map(choiceOf);
  const isRefused = error !== undefined && items.length === 0;
  return (
    <>
      {isRefused && children !== undefined ? (
        children
      ) : (
        <Select
          label={label}
          hint={hint}
          isRequired={isRequired}
          value={buildId}
          empty={empty}
          choices={withChosen(choices, buildId)}
          onChange={onChange}
        />
      )}
      {hasMore && (
        <Button isBusy={isLoading} onClick={more}>
          {applications.moreBuilds}
        </Button>
      )}
      <ErrorNote error={error} retry={hasMore ? more : reload} />
    </>
  );
}

/** Adds the chosen build if it is not in the loaded part of the list. */
function withChosen(choices: readonly Choice[], chosen: string): readonly Choice[] {
  return chosen === '' || choices.some(({ value }) => value === chosen)
    ? choices
    : [{ value: chosen, title: chosen }, ...choices];
}

function choiceOf({ buildId, applicationVersionId, createdDate }: BuildSummary): Choice {
  return {
    value: buildId,
    title: `${applicationVersionId}, ${absoluteTime(new Date(createdDate))}, ${buildId}`,
  };
}
