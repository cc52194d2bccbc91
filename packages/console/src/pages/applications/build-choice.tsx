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
  /** Empty where none is chosen. */
  buildId: string;
  /** What it means to choose none. */
  empty: string;
  onChange: (buildId: string) => void;
  hint?: string | undefined;
  isRequired?: boolean;
  /** A build that is no choice. */
  without?: string;
  /** Whether withdrawn builds are choices. */
  hasWithdrawn?: boolean;
  /** What stands in the place of the list where the service does not give it. */
  children?: ComponentChildren;
}

/** Chooses a build of an application; older ones are asked for when they are wanted. */
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

/** A build that was typed before there was a list, or that is not on the pages so far, is a choice all the same. */
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
